"""Check an oracle of your own against the contract that every engine of this package is tested with."""
