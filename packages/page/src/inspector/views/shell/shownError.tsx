import { eventText } from '../../model/events/eventWords.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { LiveRegion } from '../../parts/liveRegion.tsx'

/** The failure that is shown, and its place among all failures. */
export function ShownError({ inspector: { agent, event } }: { readonly inspector: Inspector }) {
  const errors = agent.value?.errors ?? []
  const shown = event.value
  if (shown === null) return null
  return <LiveRegion text={`Error ${errors.indexOf(shown) + 1} of ${errors.length}: ${eventText(shown)}`} />
}
