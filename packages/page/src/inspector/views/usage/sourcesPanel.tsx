import type { SourceView } from '../../model/agent/agentView.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import { StateDot } from '../../parts/stateDot.tsx'
import { LongText } from '../../parts/longText.tsx'

/** Sources of the agent's tools that come and go: the state of each source, its tools, and its text in the system prompt. */
export function SourcesPanel({ view }: { readonly view: FollowedAgent }) {
  const { sources, instructions } = view.state.value
  const names = new Set(sources.map(({ source }) => source))
  const silent = [...instructions.keys()].filter((source) => !names.has(source))
  const all: readonly SourceView[] = [...sources, ...silent.map((source) => ({ source, tools: [] }))]
  if (all.length === 0) return null
  return (
    <section class="details-part" aria-labelledby="sources-title">
      <h2 id="sources-title">Tool sources</h2>
      <ul class="sources">
        {all.map(({ source, state, tools, trouble }) => {
          const text = instructions.get(source)
          return (
            <li key={source}>
              <p class="source">
                {state === undefined ? null : <StateDot state={state} />}
                <span class="cut grow">{source}</span>
                <span class="faint small">{state}</span>
              </p>
              {trouble === undefined ? null : <p class="source-trouble small">{trouble}</p>}
              {tools.length === 0 ? null : <p class="source-tools mono muted small">{tools.join(', ')}</p>}
              {text === undefined ? null : (
                <details class="muted small">
                  <summary>Instructions</summary>
                  <LongText text={text} kind="code" />
                </details>
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}
