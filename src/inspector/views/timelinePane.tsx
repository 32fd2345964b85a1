import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { EventLog } from './eventLog.tsx'

/** What happened, when. */
export const TimelinePane = ({ inspector, view }: { readonly inspector: Inspector; readonly view: FollowedAgent }) => (
  <div class="timeline">
    <EventLog inspector={inspector} view={view} />
  </div>
)
