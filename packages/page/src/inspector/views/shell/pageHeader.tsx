import type { ComponentChildren } from 'preact'
import type { Inspector } from '../../model/shell/inspector.ts'
import { themes, type Theme } from '../../model/shell/shellChoices.ts'
import { Icon } from '../../parts/icon.tsx'
import { SquareButton } from '../../parts/squareButton.tsx'

const words = {
  connecting: ['Connecting', 'waiting'],
  open: ['Connected', 'done'],
  reconnecting: ['Reconnecting', 'waiting'],
  closed: ['Closed', 'ended'],
  refused: ['Refused', 'failed'],
  expired: ['Expired', 'failed'],
} as const

const roles = { observe: 'may look', talk: 'may talk', drive: 'may drive', admin: 'may do everything' } as const

const themeWords: Readonly<Record<Theme, string>> = { system: 'as the system', light: 'light', dark: 'dark' }

/** Changes the colours of the page. */
function ThemeButton({ inspector: { choices } }: { readonly inspector: Inspector }) {
  const theme = choices.theme.value
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]!
  return (
    <SquareButton
      label={`Colours: ${themeWords[theme]}`}
      hint={`Colours: ${themeWords[theme]}. Press for ${themeWords[next]}.`}
      isQuiet
      onClick={() => choices.setTheme(next)}
    >
      <Icon name={theme} />
    </SquareButton>
  )
}

export interface PageHeaderProps {
  readonly inspector: Inspector
  readonly onHelp: () => void
  /** Navigation between the parts of the page, where there is room for only one. */
  readonly children: ComponentChildren
}

/** Head of the page: the link to the overview, the connection, and the rights of the person. */
export function PageHeader({ inspector, onHelp, children }: PageHeaderProps) {
  const { connection } = inspector.attached.value
  const [label, dot] = words[connection.status.value]
  const role = connection.role.value
  return (
    <header class="page-header">
      <a class="brand" href="#" aria-label="escapement: overview of all agents" title="Overview (0)">
        <Icon name="mark" />
        <span>escapement</span>
      </a>
      {children}
      <span class="grow" />
      {role === null ? null : (
        <span class="badge" title={`Your token ${roles[role]}.`}>
          {role}
        </span>
      )}
      <span class="connection" title={connection.url}>
        <span class={`dot ${dot}`} aria-hidden="true" />
        <span class="connection-word">{label}</span>
        <span class="faint mono server">{new URL(connection.url).host}</span>
      </span>
      <ThemeButton inspector={inspector} />
      <SquareButton label="Help" hint="Help: marks and keys (?)" isQuiet onClick={onHelp}>
        <Icon name="help" />
      </SquareButton>
    </header>
  )
}
