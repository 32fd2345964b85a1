import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

/** An item of a menu. */
export interface MenuItem {
  readonly label: string
  readonly icon?: ComponentChildren
  /** A key that does the same as the item. */
  readonly key?: string
  /** Reason why the item cannot be chosen; `null` if it can. */
  readonly why: string | null
  readonly isDangerous?: boolean
  /** True while the item is on; only for an item that is on or off. */
  readonly isOn?: boolean
  readonly onChoose: () => void
}

export interface MenuProps {
  readonly label: string
  readonly items: readonly MenuItem[]
  readonly children: ComponentChildren
}

/** A button that opens a menu by the ARIA pattern: arrows, Home and End move, Escape and Tab close, and the focus goes back. */
export function Menu({ label, items, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const close = (): void => {
    setOpen(false)
    button.current?.focus()
  }
  const entries = (): HTMLElement[] => [...(box.current?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])]
  useEffect(() => {
    if (!isOpen) return
    entries()[0]?.focus()
    const outside = (event: Event): void => {
      if (event.target instanceof Node && box.current?.contains(event.target) === false) setOpen(false)
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [isOpen])
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen) return
    const all = entries()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const target = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key]
    if (event.key === 'Tab') setOpen(false)
    else if (event.key === 'Escape') close()
    if (target === undefined && event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    if (target !== undefined) all[(target + all.length) % all.length]?.focus()
  }
  return (
    <div ref={box} class="menu-place" onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        class="button quiet"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen ? (
        <div id={id} class="menu" role="menu" aria-label={label}>
          {items.map((item) => (
            <MenuEntry key={item.label} item={item} onChosen={close} />
          ))}
        </div>
      ) : null}
    </div>
  )
}

interface MenuEntryProps {
  readonly item: MenuItem
  readonly onChosen: () => void
}

function MenuEntry({ item: { label, icon, key, why, isDangerous, isOn, onChoose }, onChosen }: MenuEntryProps) {
  const id = useId()
  return (
    <button
      type="button"
      role={isOn === undefined ? 'menuitem' : 'menuitemcheckbox'}
      aria-checked={isOn}
      tabIndex={-1}
      class={isDangerous === true ? 'menu-item danger' : 'menu-item'}
      aria-disabled={why !== null}
      aria-describedby={why === null ? undefined : id}
      aria-keyshortcuts={key}
      title={why ?? undefined}
      onClick={() => {
        if (why !== null) return
        onChosen()
        onChoose()
      }}
    >
      {icon}
      <span class="grow">{label}</span>
      {isOn === true ? <span aria-hidden="true">✓</span> : null}
      {key === undefined ? null : <kbd aria-hidden="true">{key}</kbd>}
      {why === null ? null : (
        <span id={id} hidden>
          {why}
        </span>
      )}
    </button>
  )
}
