import { Icon } from '../../parts/icon.tsx'

/** Page for a read-only link that has expired. */
export const ExpiredLink = ({ onOther }: { readonly onOther: () => void }) => (
  <main class="gate">
    <div class="card" role="alert">
      <Icon name="clock" />
      <h1>This link has expired</h1>
      <p class="muted">
        Ask the person who shared it for a new one. Links also expire when the server restarts, unless it keeps its key.
      </p>
      <button type="button" class="button" onClick={onOther}>
        Use a token instead
      </button>
    </div>
  </main>
)
