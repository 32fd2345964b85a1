import { timesWords } from '../../../../../../src/protocol/parts/schedules/timesWords.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { ControlButton } from '../../parts/controlButton.tsx'

/** Schedules of the agent, the next one first, each with a button that fires it now. */
export function SchedulesPanel({ inspector, view }: { readonly inspector: Inspector; readonly view: FollowedAgent }) {
  const { schedules } = view.state.value
  if (schedules.length === 0) return null
  const fire = (id: string): void => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    void inspector.attempt(() => agent.fire(id))
  }
  return (
    <section class="details-part" aria-labelledby="schedules-title">
      <h2 id="schedules-title">Schedules</h2>
      <ul class="sources">
        {schedules.map(({ id, due, times, prompt, by }) => (
          <li key={id}>
            <p class="source">
              <span class="cut grow">{id}</span>
              <ControlButton
                why={inspector.controls.value.fire}
                onUse={() => fire(id)}
                label={`Fire ${id} now`}
                kind="quiet"
              >
                Fire now
              </ControlButton>
            </p>
            <p class="small muted">
              {timesWords(times)}, next {new Date(due).toLocaleString()}
              {by === 'model' ? ', made by the model' : ''}
            </p>
            <p class="small cut">{prompt}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}
