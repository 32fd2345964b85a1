import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { RemoteShare } from '../../../../../bridge/src/client/index.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { FormDialog } from '../../parts/formDialog.tsx'

const hourMs = 60 * 60 * 1_000
const times = [
  { label: 'an hour', ms: hourMs },
  { label: 'a day', ms: 24 * hourMs },
  { label: 'a week', ms: 7 * 24 * hourMs },
] as const

const moment = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

/** Returns the address of the page with an agent and a token, in the part that the browser never sends. */
const linkTo = (agent: string, token: string): string =>
  `${location.origin}${location.pathname}#${new URLSearchParams({ agent, token }).toString()}`

/** Makes a read-only link to an agent and those below it. */
export function ShareDialog({
  inspector,
  view: { agentId },
  onClose,
}: {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onClose: () => void
}) {
  const ms = useSignal<number>(times[1].ms)
  const made = useSignal<RemoteShare | null>(null)
  const wrong = useSignal('')
  const make = async (): Promise<void> => {
    wrong.value = ''
    try {
      made.value = await inspector.attached.value.connection.client.agent(agentId).share({ ms: ms.value })
    } catch (thrown) {
      wrong.value = (thrown as Error).message
    }
  }
  const field = useRef<HTMLInputElement>(null)
  const copied = useSignal<'Copy link' | 'Copied' | 'Copy failed'>('Copy link')
  const copy = async (): Promise<void> => {
    field.current?.select()
    // Pages without TLS have no clipboard; the type promises it everywhere.
    const { clipboard } = navigator as { readonly clipboard?: Clipboard }
    const isDone =
      clipboard === undefined
        ? document.execCommand('copy')
        : await clipboard.writeText(field.current?.value ?? '').then(
            () => true,
            () => false,
          )
    copied.value = isDone ? 'Copied' : 'Copy failed'
  }
  const share = made.value
  return (
    <FormDialog
      title="A read-only link"
      verb={share === null ? 'Create link' : copied.value}
      leave="Close"
      onSubmit={() => void (share === null ? make() : copy())}
      onClose={onClose}
    >
      <p class="muted">
        Anyone with the link can watch {agentId} and its sub-agents, now and later, but cannot change anything. The link
        cannot be revoked before it expires, unless the server gets a new key.
      </p>
      {share === null ? (
        <label class="field">
          <span>Expires after</span>
          <select
            class="input"
            value={ms.value}
            onChange={({ currentTarget }) => (ms.value = Number(currentTarget.value))}
          >
            {times.map((time) => (
              <option key={time.ms} value={time.ms}>
                {time.label}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <label class="field">
          <span>Expires {moment.format(share.expiresAt)}</span>
          <input
            class="input mono"
            ref={field}
            readOnly
            autofocus
            value={linkTo(agentId, share.token)}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
        </label>
      )}
      {wrong.value === '' ? null : (
        <p class="why" role="alert">
          {wrong.value}
        </p>
      )}
    </FormDialog>
  )
}
