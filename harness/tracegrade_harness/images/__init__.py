"""Container images: reading, unpacking, storing, and a trial's root file system made of one."""
