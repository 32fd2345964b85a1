import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { BridgeRuntime } from '../../../bridge/src/server/agentDirectory.ts'

const refused = (): RuntimeError =>
  new RuntimeError('BRIDGE_FORBIDDEN', 'This page shows recorded sessions: nothing runs here.')

/** The runtime of a page that only shows recorded sessions. */
export const nothingRuns: BridgeRuntime = {
  agents: () => [],
  agent: () => undefined,
  spawn: () => Promise.reject(refused()),
  resume: () => Promise.reject(refused()),
  onAgent: () => () => {},
}
