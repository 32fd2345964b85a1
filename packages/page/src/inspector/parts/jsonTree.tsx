import { useState } from 'preact/hooks'
import { cutEnd } from '../../../../../src/protocol/text/cutMiddle.ts'
import { formatCount } from '../model/words/numbers.ts'
import { forDisplay } from '../model/words/shortText.ts'
import { Icon } from './icon.tsx'

/** Maximum length of a string, and maximum number of entries, shown before more is asked for. */
const mostChars = 500
const mostEntries = 100

export interface JsonTreeProps {
  readonly value: unknown
  readonly name?: string
  /** Number of levels that are open at first. Default 1. */
  readonly depth?: number
}

/** A JSON value as a tree whose objects and arrays open and close. */
export function JsonTree({ value, name, depth = 1 }: JsonTreeProps) {
  return (
    <ul class="tree" aria-label="JSON">
      <Entry value={value} name={name} depth={depth} />
    </ul>
  )
}

function Entry({ value, name, depth = 0 }: { value: unknown; name?: string | undefined; depth?: number }) {
  const [isOpen, setOpen] = useState(depth > 0)
  const [most, setMost] = useState(mostEntries)
  const key = name === undefined ? null : <span class="tree-key">{forDisplay(name)}</span>
  if (typeof value !== 'object' || value === null) {
    return (
      <li>
        {key} <Leaf value={value} />
      </li>
    )
  }
  const entries = Object.entries(value)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (entries.length === 0) {
    return (
      <li>
        {key} {open}
        {close}
      </li>
    )
  }
  return (
    <li>
      <button type="button" class="tree-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="chevron" />
        {key} <span class="faint">{isOpen ? open : `${open} ${formatCount(entries.length)} ${close}`}</span>
      </button>
      {isOpen ? (
        <ul>
          {entries.slice(0, most).map(([inner, innerValue]) => (
            <Entry key={inner} name={inner} value={innerValue} depth={depth - 1} />
          ))}
          {entries.length > most ? (
            <li>
              <button type="button" class="button quiet" onClick={() => setMost(most * 10)}>
                {formatCount(entries.length - most)} more
              </button>
            </li>
          ) : null}
        </ul>
      ) : null}
    </li>
  )
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  const text = forDisplay(typeof value === 'string' ? JSON.stringify(value) : String(value))
  if (text.length <= mostChars) return <span class={`tree-${value === null ? 'null' : typeof value}`}>{text}</span>
  return (
    <>
      <span class="tree-string">{isWhole ? text : cutEnd(text, mostChars)}</span>{' '}
      <button type="button" class="button quiet" onClick={() => setWhole(!isWhole)}>
        {isWhole ? 'show less' : `show all ${formatCount(text.length)}`}
      </button>
    </>
  )
}
