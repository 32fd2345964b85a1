import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../parts/icon.tsx'

interface TokenFormProps {
  readonly hadToken: boolean
  readonly onGive: (token: string) => void
}

/** Asks for a token, for a server that requires one. */
export function TokenForm({ hadToken, onGive }: TokenFormProps) {
  const [token, setToken] = useState('')
  const field = useRef<HTMLInputElement>(null)
  // Also after a refusal: the browser heeds `autofocus` once.
  useLayoutEffect(() => field.current?.focus(), [])
  return (
    <main class="gate">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault()
          if (token.trim() !== '') onGive(token.trim())
        }}
      >
        <Icon name="key" />
        <h1>{hadToken ? 'The server refused this token' : 'This server requires a token'}</h1>
        <p class="muted">
          The token decides what you may do here: look, drive, or start agents. It is kept until you close this tab.
        </p>
        <label class="field">
          <span>Token</span>
          <input
            ref={field}
            class="input mono"
            type="password"
            autocomplete="off"
            value={token}
            aria-invalid={hadToken}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
        <button type="submit" class="button primary">
          Connect
        </button>
      </form>
    </main>
  )
}
