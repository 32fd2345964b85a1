import { RuntimeError, type ErrorInfo } from '../../protocol/errors.ts'
import type { TreeAgent } from './treeAgent.ts'

/** Returns the error of a crashed incognito agent for its parent's log, without the message, which may quote the conversation. */
export const withoutWords = ({ code }: ErrorInfo): ErrorInfo => ({ code, message: 'It is incognito: why is not kept.' })

/** Returns the crash of a sub-agent as an error for its callers: `INTERNAL` becomes `CHILD_CRASHED`, because the defect is not theirs. */
export const crashed = ({ code, message }: ErrorInfo): ErrorInfo => ({
  code: code === 'INTERNAL' ? 'CHILD_CRASHED' : code,
  message,
})

export const stopped = ({ agentId }: TreeAgent): RuntimeError =>
  new RuntimeError('AGENT_STOPPED', `Agent "${agentId}" was stopped meanwhile.`)

/** Returns the marker of an effect that was not started because the log could not record it. It is started once the store accepts records again. */
export const ifUnwritten = (error: ErrorInfo): { readonly notStarted?: ErrorInfo } =>
  error.code === 'STORE_APPEND_FAILED' ? { notStarted: error } : {}

/** Checks how deep a sub-agent would be. @throws RuntimeError `CHILD_REFUSED` if it would be too deep in the tree */
export function checkDepth({ path, family: { maxDepth } }: TreeAgent): void {
  const depth = path.length + 1
  if (depth > maxDepth)
    throw new RuntimeError(
      'CHILD_REFUSED',
      `A sub-agent here would be at depth ${depth}; ${maxDepth} is the most allowed.`,
    )
}
