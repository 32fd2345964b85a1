import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { placeOf, wordsOf } from '../../model/sessions/agentNames.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { sidebarRows, type SideRow } from '../../model/sessions/sidebarRows.ts'
import { toggled } from '../../model/words/toggled.ts'
import { VirtualList } from '../../parts/virtualList.tsx'
import { SideItem } from './sideItem.tsx'

/** Agents and sessions that fit a filter: a tree by the ARIA pattern. */
export function SideList({ inspector, filter }: { readonly inspector: Inspector; readonly filter: string }) {
  const { directory } = inspector.attached.value
  const agents = directory.agents.value
  const left = directory.left.value
  const sessions = directory.sessions.value ?? []
  const rest = directory.sessionTotal.value - sessions.length
  const settling = directory.settling.value
  const chosen = inspector.route.value.agent ?? inspector.route.value.host
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set<string>())
  const [active, setActive] = useState<string | null>(chosen)
  const moved = useRef(0)
  const rows = useMemo(
    () => sidebarRows({ agents, left, sessions, rest, closed, words: wordsOf(filter) }),
    [agents, left, sessions, rest, closed, filter],
  )
  // What is chosen elsewhere, by a link or a key, is in sight here too: before a key can come, which it would undo.
  useLayoutEffect(() => {
    if (chosen === null) return
    moved.current += 1
    setActive(chosen)
  }, [chosen])
  const at = rows.findIndex(({ key }) => key === active)

  const toggle = ({ key }: SideRow): void => setClosed(toggled(closed, key))
  const moveTo = (index: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))]
    moved.current += 1
    if (row !== undefined) setActive(row.key)
  }
  const parentOf = (index: number): number =>
    rows.findLastIndex((row, i) => i < index && row.level < rows[index]!.level)
  const choose = (row: SideRow): void => {
    setActive(row.key)
    if (row.type === 'heading') toggle(row)
    else if (row.type === 'more') void directory.readMore()
    else inspector.go(row.type === 'session' ? placeOf(row.session) : { agent: row.key })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[at]
    const isOpen = row === undefined ? undefined : isOpenOf(row)
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => moveTo(at + 1),
      ArrowUp: () => moveTo(at < 0 ? 0 : at - 1),
      PageDown: () => moveTo(at + 10),
      PageUp: () => moveTo(at - 10),
      Home: () => moveTo(0),
      End: () => moveTo(rows.length - 1),
      ArrowRight: () => {
        if (row !== undefined && isOpen === false) toggle(row)
        else if (isOpen === true) moveTo(at + 1)
      },
      ArrowLeft: () => {
        if (row !== undefined && isOpen === true) toggle(row)
        else if (row !== undefined && parentOf(at) >= 0) moveTo(parentOf(at))
      },
      Enter: () => row !== undefined && choose(row),
      ' ': () => row !== undefined && choose(row),
    }
    const act = keys[event.key]
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    act()
  }
  if (rows.length === 0 && filter !== '') return <p class="faint none-yet">No matches.</p>

  return (
    <VirtualList
      class="agents"
      count={rows.length}
      rowHeight={44}
      keyOf={(index) => rows[index]!.key}
      scrollTo={at}
      scrollMark={moved.current}
      attributes={{
        id: 'agents',
        role: 'tree',
        'aria-label': 'Agents and sessions',
        'aria-activedescendant': at < 0 ? undefined : `side-${rows[at]!.key.trim()}`,
        onKeyDown,
      }}
      row={(index) => {
        const row = rows[index]!
        return (
          <SideItem
            row={row}
            isChosen={row.key === chosen}
            isActive={index === at}
            isSettling={settling.has(row.key)}
            onChoose={() => choose(row)}
            onToggle={() => toggle(row)}
          />
        )
      }}
    />
  )
}

function isOpenOf(row: SideRow): boolean | undefined {
  if (row.type === 'heading') return row.isOpen
  return row.type === 'agent' && row.hasChildren ? row.isOpen : undefined
}
