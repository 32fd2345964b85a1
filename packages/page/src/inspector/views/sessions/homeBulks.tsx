import type { Inspector } from '../../model/shell/inspector.ts'
import { bulkWords } from '../../model/sessions/bulk.ts'

/** Progress of actions on many agents, each with a button that stops it. */
export function HomeBulks({ inspector }: { readonly inspector: Inspector }) {
  const bulks = inspector.bulks.value
  if (bulks.length === 0) return null
  return (
    <ul class="home-bulks" aria-label="Actions on several agents">
      {bulks.map((bulk) => {
        const { isOver, why, done, total } = bulk.state.value
        return (
          <li key={bulk}>
            <span role="status">{bulkWords(bulk.state.value)}</span>
            {isOver ? null : <progress max={total} value={done} aria-label="Done" />}
            {why === undefined ? null : <bdi class="cut muted">{why}</bdi>}
            <button
              type="button"
              class="button slim"
              onClick={() => {
                bulk.stop()
                if (isOver) inspector.bulks.value = bulks.filter((one) => one !== bulk)
              }}
            >
              {isOver ? 'Dismiss' : 'Stop'}
            </button>
          </li>
        )
      })}
    </ul>
  )
}
