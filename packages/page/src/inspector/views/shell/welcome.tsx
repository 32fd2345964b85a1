import type { Inspector } from '../../model/shell/inspector.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { EmptyState } from '../../parts/emptyState.tsx'
import { laterPart } from '../../parts/later.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { useNow } from '../../parts/useNow.ts'
import type { MachinesProps } from '../sessions/homeMore.tsx'

const Machines = laterPart<MachinesProps>(<></>, async () => (await import('../sessions/homeMore.tsx')).Machines)

const example = `const runtime = await createRuntime()
const { url } = await runtime.serve({ definitions: [helper] })
const agent = await runtime.spawn(helper)
agent.prompt('What time is it?')`

/** Page without any agent, which explains how to start one. */
export function Welcome({ inspector, onSpawn }: { readonly inspector: Inspector; readonly onSpawn: () => void }) {
  const { directory, connection } = inspector.attached.value
  const now = useNow(inspector.clock, 15_000)
  const canSpawn = connection.may.value('spawn') && connection.definitions.value.length > 0
  if (!directory.isKnown.value) {
    return (
      <main class="agent" aria-label="No agent">
        <h1 class="hidden">escapement inspector</h1>
        <Skeleton label="Waiting for the server" />
      </main>
    )
  }
  return (
    <main class="agent" aria-label="No agent">
      <h1 class="hidden">escapement inspector</h1>
      <Machines inspector={inspector} now={now} />
      <EmptyState icon="agents" title="No agent yet">
        <p>Agents appear here once you, your program or a client starts them.</p>
        {canSpawn ? (
          <ControlButton why={null} kind="primary" onUse={onSpawn}>
            Start an agent
          </ControlButton>
        ) : null}
        <pre tabIndex={0}>{example}</pre>
      </EmptyState>
    </main>
  )
}
