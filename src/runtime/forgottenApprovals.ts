import type { Agent } from './agents/agent.ts'

interface OpenRuntime {
  roots(): readonly Agent[]
}

/** Open runtimes, held weakly so that one dropped without `close` is not kept in memory. */
const open = new Set<WeakRef<OpenRuntime>>()

/**
 * From now on, when the process is about to exit because nothing is left to do, a warning names every call of the runtime's agents
 * that waits for a decision: code awaiting their runs would otherwise silently never continue. Returns a function that ends it.
 */
export function warnOfForgottenApprovals(runtime: OpenRuntime): () => void {
  const entry = new WeakRef(runtime)
  if (open.size === 0) process.on('beforeExit', warn)
  open.add(entry)
  return () => {
    open.delete(entry)
    if (open.size === 0) process.off('beforeExit', warn)
  }
}

function warn(): void {
  // The warning itself is work, so `beforeExit` would fire again.
  process.off('beforeExit', warn)
  for (const entry of open) for (const agent of entry.deref()?.roots() ?? []) warnOf(agent)
}

function warnOf(agent: Agent): void {
  for (const { agentId, key, name } of agent.approvals()) {
    const what = `The process ends while a call of "${name}" by agent "${agentId}" waits for a decision, and nobody decided it`
    const todo = `agent.decide('${key}', 'approve') or 'deny', in a listener for approval.requested.`
    process.emitWarning(`${what}: call ${todo}`, 'EscapementWarning')
  }
}
