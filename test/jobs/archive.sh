#!/bin/bash
# Transcribe the archive: run it again until nothing is left. What can't be ordered is listed in failed.txt.
steno config set upload-command ./upload
steno order "$1" --hidden --sku TRANS14 --tag archive --skip-ordered 2> failed.txt
steno sync --download transcripts --name-as '{dir}/{basename}.{ext}' --missing
steno report --by tag --csv > cost.csv
