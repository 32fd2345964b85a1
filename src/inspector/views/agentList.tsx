import { useMemo, useRef, useState } from 'preact/hooks'
import { agentRows, type AgentRow } from '../model/hierarchy.ts'
import type { Inspector } from '../model/inspector.ts'
import { money } from '../../charts/amounts.ts'
import { Icon } from '../parts/icon.tsx'
import { StateDot } from '../parts/stateDot.tsx'
import { VirtualList } from '../parts/virtualList.tsx'

/** Agents that run, sub-agents below their parents: a tree by the ARIA pattern. */
export function AgentList({ inspector }: { readonly inspector: Inspector }) {
  const agents = inspector.attached.value.directory.agents.value
  const chosen = inspector.route.value.agent
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [active, setActive] = useState<string | null>(chosen)
  const moved = useRef(0)
  const rows = useMemo(() => agentRows(agents.values(), closed), [agents, closed])
  const at = rows.findIndex(({ agent }) => agent.agentId === (active ?? chosen))

  const toggle = ({ agent }: AgentRow, isOpen: boolean): void => {
    const next = new Set(closed)
    if (isOpen) next.delete(agent.agentId)
    else next.add(agent.agentId)
    setClosed(next)
  }
  const moveTo = (index: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))]
    moved.current += 1
    if (row !== undefined) setActive(row.agent.agentId)
  }
  const parentOf = (index: number): number =>
    rows.findLastIndex((row, i) => i < index && row.level < rows[index]!.level)
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[at]
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => moveTo(at + 1),
      ArrowUp: () => moveTo(at - 1),
      Home: () => moveTo(0),
      End: () => moveTo(rows.length - 1),
      ArrowRight: () => {
        if (row?.hasChildren === true && !row.isOpen) toggle(row, true)
        else if (row?.hasChildren === true) moveTo(at + 1)
      },
      ArrowLeft: () => {
        if (row?.isOpen === true) toggle(row, false)
        else if (row !== undefined && parentOf(at) >= 0) moveTo(parentOf(at))
      },
      Enter: () => row !== undefined && inspector.go({ agent: row.agent.agentId }),
      ' ': () => row !== undefined && inspector.go({ agent: row.agent.agentId }),
    }
    const act = keys[event.key]
    if (act === undefined) return
    event.preventDefault()
    act()
  }

  return (
    <VirtualList
      class="agents"
      count={rows.length}
      rowHeight={44}
      keyOf={(index) => rows[index]!.agent.agentId}
      scrollTo={at}
      scrollMark={moved.current}
      attributes={{
        id: 'agents',
        role: 'tree',
        'aria-label': 'Running agents',
        'aria-activedescendant': at < 0 ? undefined : `agent-${rows[at]!.agent.agentId}`,
        onKeyDown,
      }}
      row={(index) => (
        <AgentItem
          row={rows[index]!}
          isChosen={rows[index]!.agent.agentId === chosen}
          isActive={index === at}
          onChoose={(agent) => {
            setActive(agent)
            inspector.go({ agent })
          }}
          onToggle={() => toggle(rows[index]!, !rows[index]!.isOpen)}
        />
      )}
    />
  )
}

interface ItemProps {
  readonly row: AgentRow
  readonly isChosen: boolean
  readonly isActive: boolean
  readonly onChoose: (agentId: string) => void
  readonly onToggle: () => void
}

function AgentItem({ row, isChosen, isActive, onChoose, onToggle }: ItemProps) {
  const { agent, level, hasChildren, isOpen, place, siblings, isAsking } = row
  return (
    <div
      class={`agent-row ${isActive ? 'active' : ''}`}
      role="treeitem"
      id={`agent-${agent.agentId}`}
      aria-level={level}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-selected={isChosen}
      aria-expanded={hasChildren ? isOpen : undefined}
      style={{ paddingInlineStart: `${8 + (level - 1) * 16}px` }}
      onClick={() => onChoose(agent.agentId)}
    >
      <span
        class={`fold ${hasChildren ? '' : 'none'} ${isOpen ? 'open' : ''}`}
        aria-hidden="true"
        onClick={(event) => {
          if (!hasChildren) return
          event.stopPropagation()
          onToggle()
        }}
      >
        <Icon name="chevron" />
      </span>
      <StateDot state={agent.state} />
      <span class="grow">
        <span class="agent-name cut">{agent.agentId}</span>
        <span class="agent-about cut">
          {agent.definition} · {agent.state}
        </span>
      </span>
      {isAsking ? (
        <span class="badge warn" title="It waits for people">
          asks
        </span>
      ) : null}
      {agent.spent.costUsd > 0 ? <span class="faint number small">{money(agent.spent.costUsd)}</span> : null}
    </div>
  )
}
