"""Do the chosen sets serve a reader? Aspect recall, copies and off-topic rows on judged collections."""
