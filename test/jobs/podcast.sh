#!/bin/bash
# Every morning, from cron: order the new episodes of our shows, put what is ready on the site, and on the first day of a
# month write what the month before cost. shows.txt has a name and a feed in each line.
while read -r show feed; do
  steno order --feed "$feed" --since 90d --sku TRANS14 --tag "$show" --skip-ordered --up-to-budget
done < shows.txt
steno sync --download site --format txt,vtt --name-as '{tag}/{date} {title}.{ext}' --exec './publish'
if [ "$(date +%d)" = 01 ]; then
  since=$(date -d '1 month ago' +%F)
  steno report --by tag --since "$since" --until "$(date -d yesterday +%F)" --csv > "spent-${since%-01}.csv"
fi
