"""__future__: the features that are there already."""
annotations = division = print_function = absolute_import = unicode_literals = generator_stop = True
