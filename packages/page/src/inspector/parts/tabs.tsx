import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { formatCount } from '../model/words/numbers.ts'

export interface Tab<T extends string> {
  readonly name: T
  readonly label: string
  readonly count?: number
  /** Number of errors behind the tab; 0 is not shown. */
  readonly errors?: number
}

export interface TabsProps<T extends string> {
  readonly label: string
  readonly tabs: readonly Tab<T>[]
  readonly chosen: T
  readonly onChoose: (name: T) => void
  /** Id of the panel that belongs to the tabs. */
  readonly panelId: string
  readonly class?: string
  readonly children?: ComponentChildren
}

/** A row of tabs by the ARIA pattern: arrow keys, Home and End choose at once. */
export function Tabs<T extends string>({ label, tabs, chosen, onChoose, panelId, class: name = '' }: TabsProps<T>) {
  const list = useRef<HTMLDivElement>(null)
  const choose = (index: number): void => {
    const next = tabs[(index + tabs.length) % tabs.length]
    if (next === undefined) return
    onChoose(next.name)
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.name}"]`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = tabs.findIndex((tab) => tab.name === chosen)
    const target = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (target === undefined) return
    event.preventDefault()
    choose(target)
  }
  return (
    <div ref={list} class={`tabs ${name}`} role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <button
          key={tab.name}
          type="button"
          role="tab"
          id={`${panelId}-${tab.name}`}
          data-tab={tab.name}
          aria-selected={tab.name === chosen}
          aria-controls={panelId}
          tabIndex={tab.name === chosen ? 0 : -1}
          onClick={() => onChoose(tab.name)}
        >
          {tab.label}
          {tab.count === undefined ? null : <span class="count number">{tab.count}</span>}
          {tab.errors === undefined || tab.errors === 0 ? null : (
            <span class="count number is-bad tab-errors" title="Errors: press e for the next one">
              <span class="hidden">, </span>
              {formatCount(tab.errors)} <span aria-hidden="true">⚠</span>
              <span class="hidden">{tab.errors === 1 ? ' error' : ' errors'}</span>
            </span>
          )}
        </button>
      ))}
    </div>
  )
}
