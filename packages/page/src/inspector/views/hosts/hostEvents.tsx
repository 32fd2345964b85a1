import type { HostLine } from '../../../../../bridge/src/client/index.ts'
import { dayTime, exactTime, isoTime } from '../../model/words/dayTime.ts'

/** Events, effects and the end of a machine, the newest first. */
export const HostEvents = ({ records }: { readonly records: readonly HostLine[] }) => (
  <section aria-label="Events">
    <h2>Events</h2>
    {records.length === 0 ? <p class="muted">Nothing has happened yet.</p> : null}
    <ol class="host-events" reversed>
      {records
        .map(({ seq, time, line }, index) => (
          <li key={seq}>
            <time class="faint number" dateTime={isoTime(time)} title={exactTime(time)}>
              {dayTime(time, records[index - 1]?.time)}
            </time>
            <span>{line}</span>
          </li>
        ))
        .toReversed()}
    </ol>
  </section>
)
