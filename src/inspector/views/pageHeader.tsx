import { SquareButton } from '../parts/squareButton.tsx'
import type { Inspector } from '../model/inspector.ts'
import { Icon } from '../parts/icon.tsx'

const words = {
  connecting: ['Connecting', 'waiting'],
  open: ['Connected', 'done'],
  reconnecting: ['Reconnecting', 'waiting'],
  closed: ['Closed', 'ended'],
  refused: ['Refused', 'failed'],
} as const

const roles = { observe: 'may look', drive: 'may drive', admin: 'may do everything' } as const

/** Where one is, and who. */
export function PageHeader({ inspector, onHelp }: { readonly inspector: Inspector; readonly onHelp: () => void }) {
  const { connection } = inspector.attached.value
  const [label, dot] = words[connection.status.value]
  const role = connection.role.value
  return (
    <header class="page-header">
      <a class="brand" href="#" aria-label="escapement: overview of all agents" title="Overview (0)">
        <Icon name="mark" />
        <span>escapement</span>
      </a>
      <span class="grow" />
      {role === null ? null : (
        <span class="badge" title={`Your token ${roles[role]}.`}>
          {role}
        </span>
      )}
      <span class="connection" title={connection.url}>
        <span class={`dot ${dot}`} aria-hidden="true" />
        <span>{label}</span>
        <span class="faint mono server">{new URL(connection.url).host}</span>
      </span>
      <SquareButton label="Keyboard shortcuts" hint="Shortcuts (?)" isQuiet onClick={onHelp}>
        <Icon name="help" />
      </SquareButton>
    </header>
  )
}
