"""Records as text, for the app and the command line. It chooses words, dates and reasons; the layout is made elsewhere."""
