import type { Connection } from '../model/connection.ts'
import { Icon } from '../parts/icon.tsx'

/** What went wrong, until it is dismissed. */
export function ErrorList({ connection }: { readonly connection: Connection }) {
  const errors = connection.errors.value
  return (
    <div class="errors" role="alert">
      {errors.slice(0, 3).map(({ key, code, message }) => (
        <div key={key} class="error">
          <Icon name="warning" />
          <span class="grow">
            {message} <span class="mono faint">{code}</span>
          </span>
          <button
            type="button"
            class="button quiet square"
            aria-label="Dismiss"
            onClick={() => connection.dismiss(key)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
