import { eventText } from '../../model/events/eventWords.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { LiveRegion } from '../../parts/liveRegion.tsx'

/** Says the failure that is shown, and which of how many it is. */
export function ShownError({ inspector: { agent, event } }: { readonly inspector: Inspector }) {
  const errors = agent.value?.errors ?? []
  const shown = event.value
  if (shown === null) return null
  return <LiveRegion text={`Error ${errors.indexOf(shown) + 1} of ${errors.length}: ${eventText(shown)}`} />
}
