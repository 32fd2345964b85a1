import { useState } from 'preact/hooks'
import type { Inspector } from '../../model/shell/inspector.ts'
import { retry } from '../../model/agent/retry.ts'
import { say } from '../../model/agent/say.ts'
import { causesOf, type Cause } from '../../model/sessions/causes.ts'
import type { OverviewRow } from '../../model/sessions/overview.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { ControlButton } from '../../parts/controlButton.tsx'

export interface HomeCausesProps {
  readonly inspector: Inspector
  readonly rows: readonly OverviewRow[]
}

/** Agents that are continued at the same time: a server answers others too. */
const atOnce = 8

/** Failures and pauses that several agents have in common, each with a button that continues all of them. */
export function HomeCauses({ inspector, rows }: HomeCausesProps) {
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set())
  const causes = causesOf(rows)
  if (causes.length === 0) return null
  const why = inspector.whyNotApprove.value
  const act = async ({ standing, words, agentIds }: Cause): Promise<void> => {
    setBusy((before) => new Set([...before, words]))
    const left = [...agentIds]
    const next = async (): Promise<void> => {
      for (let agentId = left.shift(); agentId !== undefined; agentId = left.shift()) {
        const agent = inspector.attached.value.connection.client.agent(agentId)
        await inspector.attempt(() => (standing === 'failed' ? retry(agent) : say(agent, 'resume', '')))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, next))
    setBusy((before) => new Set([...before].filter((one) => one !== words)))
  }
  return (
    <ul class="home-causes" aria-label="What several agents have in common">
      {causes.map((cause) => {
        const { standing, words, agentIds } = cause
        const count = formatCount(agentIds.length)
        const verb = standing === 'failed' ? 'Retry' : 'Resume'
        return (
          <li key={words}>
            <strong class="number">{count}</strong>
            <span class={`badge ${standing === 'failed' ? 'bad' : 'warn'}`}>{words}</span>
            <ControlButton
              why={busy.has(words) ? 'They are being continued.' : why}
              class="slim"
              label={`${verb} ${count}: ${words}`}
              onUse={() => void act(cause)}
            >
              {verb} {count}
            </ControlButton>
          </li>
        )
      })}
    </ul>
  )
}
