import type { Inspector } from '../model/inspector.ts'
import { Icon } from '../parts/icon.tsx'
import { ControlButton } from '../parts/controlButton.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { AgentList } from './agentList.tsx'
import { SessionList } from './sessionList.tsx'

/** Who there is: agents that run, and sessions at rest. */
export function Sidebar({ inspector, onSpawn }: { readonly inspector: Inspector; readonly onSpawn: () => void }) {
  const { directory, connection } = inspector.attached.value
  const agents = directory.agents.value
  const role = connection.role.value
  const whyNoSpawn =
    role !== 'admin'
      ? 'Starting agents needs a token with the role "admin".'
      : connection.definitions.value.length === 0
        ? 'The server has no definitions: serve({ definitions: [...] }).'
        : null
  return (
    <nav class="sidebar" aria-label="Agents and sessions">
      <section class="side-part running" aria-labelledby="running-title">
        <div class="side-title">
          <h2 id="running-title">Running</h2>
          <span class="count number">{agents.size}</span>
          <span class="grow" />
          <ControlButton why={whyNoSpawn} onUse={onSpawn} kind="quiet" label="Start an agent" class="square">
            <Icon name="plus" />
          </ControlButton>
        </div>
        {!directory.isKnown.value ? (
          <Skeleton label="Agents are being listed" />
        ) : agents.size === 0 ? (
          <p class="faint none-yet">No agent runs.</p>
        ) : (
          <AgentList inspector={inspector} />
        )}
      </section>
      <section class="side-part" aria-labelledby="sessions-title">
        <div class="side-title">
          <h2 id="sessions-title">At rest</h2>
          <span class="grow" />
          <button
            type="button"
            class="button quiet square"
            aria-label="Read the sessions again"
            title="Read again"
            onClick={() => void directory.readSessions()}
          >
            <Icon name="refresh" />
          </button>
        </div>
        {directory.error.value === null ? null : <p class="problem">{directory.error.value.message}</p>}
        {directory.sessions.value === null && directory.error.value === null ? (
          <Skeleton label="Sessions are being listed" />
        ) : (
          <SessionList inspector={inspector} />
        )}
      </section>
    </nav>
  )
}
