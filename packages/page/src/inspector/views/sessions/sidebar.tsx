import { useState } from 'preact/hooks'
import type { Inspector } from '../../model/shell/inspector.ts'
import { sideWidth } from '../../model/shell/shellChoices.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { Splitter } from '../../parts/splitter.tsx'
import { SquareButton } from '../../parts/squareButton.tsx'
import { SideList } from './sideList.tsx'

export interface SidebarProps {
  readonly inspector: Inspector
  readonly onSpawn: () => void
}

/** List of running agents and of sessions at rest. */
export function Sidebar({ inspector, onSpawn }: SidebarProps) {
  const [filter, setFilter] = useState('')
  const { directory, connection } = inspector.attached.value
  const { choices } = inspector
  const canSpawn = connection.may.value('spawn')
  const whyNoSpawn = !canSpawn
    ? 'To start agents you need a token with the right "spawn".'
    : connection.definitions.value.length === 0
      ? 'The server offers no definitions. Add them with serve({ definitions: [...] }).'
      : null
  const isEmpty = directory.agents.value.size === 0 && directory.sessions.value?.length === 0
  const isLoading = !directory.isKnown.value || (directory.sessions.value === null && directory.error.value === null)
  return (
    <nav class="sidebar" id="sidebar" aria-label="Agents and sessions">
      <Splitter
        label="Width of the list"
        side="left"
        controls="sidebar"
        width={choices.side.value}
        least={sideWidth.least}
        most={sideWidth.most}
        onWidth={(width) => choices.setSide(width)}
        onReset={() => choices.setSide(sideWidth.usual)}
      />
      <div class="side-title">
        <input
          type="search"
          class="input grow"
          aria-label="Filter the list"
          placeholder="Filter the list"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && filter !== '') {
              event.stopPropagation()
              setFilter('')
            } else if (event.key === 'ArrowDown') document.getElementById('agents')?.focus()
            else return
            event.preventDefault()
          }}
        />
        <SquareButton label="Reload the sessions" hint="Reload" isQuiet onClick={() => void directory.readSessions()}>
          <Icon name="refresh" />
        </SquareButton>
        <ControlButton why={whyNoSpawn} onUse={onSpawn} kind="quiet" label="Start an agent" class="square">
          <Icon name="plus" />
        </ControlButton>
      </div>
      {directory.error.value === null ? null : <p class="problem">{directory.error.value.message}</p>}
      {isLoading && directory.agents.value.size === 0 ? (
        <Skeleton label="Loading the agents" />
      ) : isEmpty ? (
        <p class="faint none-yet">No agents or sessions yet.</p>
      ) : (
        <SideList inspector={inspector} filter={filter} />
      )}
    </nav>
  )
}
