"""Words that carry what a passage says beside its subject: negations, modality, directions, months, units, numbers.

Languages without a list are compared by their numbers, identifiers and names, and by aligned replacements alone.
"""

from __future__ import annotations


def _read(*lists: str) -> frozenset[str]:
    return frozenset(word for words in lists for word in words.split())


NEGATIONS = _read(
    "no not never none nor neither without cannot nothing nobody nowhere n't isnt arent wasnt werent dont doesnt didnt "
    "wont wouldnt cant couldnt shouldnt mustnt hasnt havent hadnt",
    "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder",
    "ne pas jamais aucun aucune rien personne sans ni",
    "nunca jamás ninguno ninguna ningún nada nadie sin tampoco",
    "non mai nessuno nessuna niente nulla senza né",
    "não nem nenhum nenhuma ninguém sem",
    "niet geen nooit niets niemand zonder",
    "не нет ни никогда никто ничего без",
    "不 没 沒 無 无 非 未 勿",
)
"""They say that something is not so."""

MODALITY = _read(
    "must should shall may might can could will would always only sometimes often rarely usually "
    "except unless optional "
    "required mandatory recommended deprecated forbidden allowed prohibited permitted",
    "muss müssen soll sollen sollte darf dürfen kann können immer nur manchmal oft selten außer",
    "doit doivent devrait peut peuvent toujours seulement parfois souvent rarement sauf",
    "debe deben debería puede pueden siempre solo sólo solamente veces menudo excepto",
    "deve devono dovrebbe può possono sempre soltanto talvolta spesso tranne",
    "deve devem deveria pode podem sempre somente apenas exceto",
    "moet moeten mag mogen kan kunnen altijd alleen soms vaak behalve",
)
"""They say how far something is so."""

DIRECTIONS = _read(
    "before after above below under over up down increase increases increased increasing decrease decreases decreased "
    "decreasing higher lower more less fewer most least maximum minimum max min first last earlier "
    "later enable enables "
    "enabled disable disables disabled true false yes off start stop accept reject rejected accepted allow deny "
    "include exclude north south east west left right male female positive negative upper true false newer older "
    "prior since until inclusive exclusive internal external public private success failure rise rises rose fall falls "
    "fell win wins won lose loses lost guilty innocent alive "
    "dead young old hot cold better worse best worst good bad",
    "vor nach über unter mehr weniger ja nein wahr falsch",
    "avant après plus moins oui vrai faux",
    "antes después más menos sí verdadero falso",
)
"""Words with an opposite."""

QUANTITIES = _read(
    "all some few many almost nearly half both several every each", "alle einige wenige viele", "tous quelques peu"
)
"""They say of how many something is so."""

LIMITS = _read(
    "only except unless nur außer seulement sauf solo sólo solamente excepto tranne somente apenas alleen behalve"
)
"""They say where something ends to be so."""

_SOFT = _read("would will often usually sometimes rarely oft selten souvent parfois rarement spesso vaak soms")
POLARITY = (NEGATIONS | MODALITY | QUANTITIES) - _SOFT
"""Words that two texts in other words must share to say the same."""

FACTS = NEGATIONS | MODALITY | QUANTITIES | DIRECTIONS
"""Words whose presence or absence is a difference."""

FUNCTION_WORDS = _read(
    "a an the of to in for and or is are was were be been being by with at from as that this these those it "
    "its it's he "
    "she they them his her their theirs we you i our your my me him us who whom whose which what where when how why if "
    "then than there here so such also but about into through between during has have had having do does did done "
    "within per via each any some all both other another same own too very just while because e.g i.e etc",
    "der die das den dem des ein eine einen einem einer eines und oder ist sind war waren sein wird werden wurde "
    "wurden von zu zur zum im in am an auf für mit aus bei als auch es er sie wir ihr dass wie wenn durch um",
    "le la les l un une des du de d et ou est sont était étaient être à au aux en dans par pour avec sur ce cette ces "
    "il elle ils elles on nous vous se s que qui dont où comme",
    "el los las una unos unas y o es son era eran ser del al a por para con como su sus lo que quien cual se",
    "il lo gli i uno e o è sono era erano essere di da nel nella con su per che chi come si",
    "o os as um uma e é são era eram do da dos das no na nos nas em por com que se",
    "de het een en of is zijn was waren van te tot op met voor door bij dat die dit als ook er",
)
"""Words that say nothing by themselves."""

_MONTHS = (
    "january januar janvier enero gennaio janeiro januari jan",
    "february februar février febrero febbraio fevereiro februari feb",
    "march märz mars marzo março maart mar",
    "april avril abril aprile apr",
    "may mai mayo maggio maio mei",
    "june juni juin junio giugno junho jun",
    "july juli juillet julio luglio julho jul",
    "august août agosto augustus aug",
    "september septembre septiembre settembre setembro sep sept",
    "october oktober octobre octubre ottobre outubro oct okt",
    "november novembre noviembre novembro nov",
    "december dezember décembre diciembre dicembre dezembro dec dez",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
"""The number of a month by its name."""
_PLAIN_MONTHS = _read("june juni juin july juli")
AMBIGUOUS_MONTHS = frozenset(name for name in MONTHS if len(name) <= 4) - _PLAIN_MONTHS
"""Names that are other words as well, such as "may", and abbreviations: they count only beside a number."""

DAYS = _read(
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag",
)

_SMALL = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty"
)
SCALES = {"hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000"}
"""Numbers that multiply the number before them."""
NUMBERS = {word: str(number) for number, word in enumerate(_SMALL.split(), start=2)} | {
    "zero": "0", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80",
    "ninety": "90",
} | SCALES  # fmt: skip
"""Numbers in words. "one" is a pronoun as often as a number, and is left out."""

UNITS = {
    name: unit
    for unit, names in {
        "km": "kilometre kilometres kilometer kilometers kilometern kilomètres kilómetros chilometri км",
        "m": "metre metres meter meters metern mètre mètres metro metros metri метров метра",
        "cm": "centimetre centimetres centimeter centimeters",
        "mm": "millimetre millimetres millimeter millimeters",
        "kg": "kilogram kilograms kilogramme kilogrammes kilogramm кг",
        "g": "gram grams gramme grammes",
        "mg": "milligram milligrams",
        "ml": "millilitre millilitres milliliter milliliters",
        "l": "litre litres liter liters",
        "%": "percent pct prozent процент процента процентов",
        "mi": "mile miles",
        "lb": "pound pounds lbs",
        "ft": "foot feet",
        "in": "inch inches",
        "h": "hour hours hr hrs",
        "min": "minute minutes mins",
        "s": "second seconds sec secs",
        "ms": "millisecond milliseconds",
        "kb": "kilobyte kilobytes",
        "mb": "megabyte megabytes",
        "gb": "gigabyte gigabytes",
        "tb": "terabyte terabytes",
        "$": "dollar dollars usd",
        "€": "euro euros eur",
        "°c": "celsius",
        "°f": "fahrenheit",
    }.items()
    for name in (unit, *names.split())
}  # fmt: skip
"""The symbol of a unit by its names. They count after a number only."""
