import { useMemo } from 'react'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { RunView } from '../../bridge/src/client/fold/foldRun.ts'
import type { AnswerOf } from '../../bridge/src/client/remoteAgentOf.ts'
import { partialOutput, type PartialOutput } from '../../../src/protocol/runs/partialOutput.ts'
import { useAgentView } from './useAgent.ts'

/** A run as a component sees it. */
export type UsedRun<Output = unknown> = RunView<Output> & {
  /** The answer as data, partial until the run has its answer. `undefined` without an `output` schema. */
  readonly output: Output | PartialOutput<Output> | undefined
}

/**
 * The run of an agent that is under way, or its last one, whoever began it; `null` before the first. The component is drawn anew as its text
 * grows.
 *
 * @throws RuntimeError `PROVIDER_MISSING`
 *
 * @example
 * ```ts no-run
 * import { createElement } from 'react'
 * import { useRun } from 'escapement/react'
 *
 * function Progress({ id }: { id: string }) {
 *   const run = useRun(id)
 *   const reports = run?.progress.map(({ name, progress }) => `${name}: ${String(progress)}`)
 *   return createElement('pre', null, reports?.join('\n'), run?.text, run?.result?.error?.message)
 * }
 * ```
 */
export function useRun<D extends AgentDefinition>(id: string): UsedRun<AnswerOf<D>> | null {
  const run = useAgentView('useRun', id, (view) => view.run)
  return useMemo(() => (run === null ? null : (Object.freeze({ ...run, output: outputOf(run) }) as never)), [run])
}

function outputOf({ status, result, text }: RunView): unknown {
  if (status === 'running') return partialOutput(text)
  return result?.output
}
