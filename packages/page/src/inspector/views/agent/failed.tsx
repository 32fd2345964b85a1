import { EmptyState } from '../../parts/emptyState.tsx'

const titles: Readonly<Record<string, string>> = {
  AGENT_NOT_FOUND: 'Agent not found',
  BRIDGE_FORBIDDEN: 'Your token has no access to this agent',
  LOG_VERSION: 'This log was written by a newer version',
  LOG_CORRUPT: 'This log is damaged',
}

/** An agent that cannot be shown, and why. */
export const Failed = ({ code, message }: { readonly code: string; readonly message: string }) => (
  <EmptyState icon="warning" title={titles[code] ?? 'The agent could not be loaded'}>
    <p role="alert">{message}</p>
    <p class="mono faint">{code}</p>
    <a class="button" href="#">
      All agents
    </a>
  </EmptyState>
)
