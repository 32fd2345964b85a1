import type { AgentEvent } from '../../protocol/events.ts'
import { isLogged } from '../model/eventList.ts'
import type { Inspector } from '../model/inspector.ts'
import { Icon } from '../parts/icon.tsx'
import { JsonTree } from '../parts/jsonTree.tsx'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** One event, whole. */
export function EventDetails({ inspector, event }: { readonly inspector: Inspector; readonly event: AgentEvent }) {
  return (
    <section class="details-part" aria-labelledby="event-title">
      <div class="part-title">
        <h2 id="event-title" class="grow mono">
          {event.type}
        </h2>
        {isLogged(event) ? (
          <button type="button" class="button" onClick={() => inspector.go({ at: event.seq })}>
            <Icon name="clock" /> Go to {event.seq}
          </button>
        ) : (
          <span class="badge">not in the log</span>
        )}
        <button
          type="button"
          class="button quiet square"
          aria-label="Leave the event"
          onClick={() => (inspector.event.value = null)}
        >
          <Icon name="close" />
        </button>
      </div>
      <p class="faint small">
        <time dateTime={new Date(event.time).toISOString()}>{exact.format(event.time)}</time>
      </p>
      <JsonTree key={`${event.seq} ${event.type}`} value={event} depth={2} />
    </section>
  )
}
