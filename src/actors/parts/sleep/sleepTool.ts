import { z } from 'zod'
import { onlyFields } from '../../../protocol/checks/onlyFields.ts'
import { optionsCheck } from '../../../protocol/checks/optionsCheck.ts'
import { RuntimeError } from '../../../protocol/errors.ts'
import type { AgentPorts } from '../../agentPorts.ts'
import { BoundCall } from '../../tools/boundCall.ts'
import { defineTool, type Tool } from '../../tools/defineTool.ts'
import { asOwn } from '../../tools/ownTools.ts'
import { furthestMs, scheduling } from '../schedules/scheduling.ts'

export interface SleepOptions {
  /** Longest sleep in milliseconds. Default: 30 days. */
  readonly maxMs?: number
}

export const sleepName = 'sleep'

const check = optionsCheck({}, { maxMs: () => z.int().min(1_000).max(furthestMs) })

/**
 * Returns the tool `sleep`, with which a model waits for a time. The run pauses once nothing else moves, the agent may be closed, and
 * `runtime.wake`, or anyone who has it open, continues it then. A message to the run ends the sleep early. `limits.ms` stands still meanwhile.
 *
 * @throws RuntimeError `INVALID_OPTION`
 *
 * @example
 * ```ts
 * const watcher = defineAgent({ name: 'watcher', model, tools: [sleepTool()] })
 * ```
 */
export function sleepTool(options: SleepOptions = {}): Tool {
  const wrong = check(options)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `sleepTool: ${wrong}.`)
  const { maxMs = 30 * 86_400_000 } = options
  const most = Math.floor(maxMs / 1_000)
  return asOwn(
    defineTool({
      name: sleepName,
      description:
        `Wait before you go on, for a number of "seconds", or "until" a time with its offset, such as 2027-03-01T09:00:00+01:00. At most ${most} seconds. ` +
        'A message of the user wakes you early.',
      effects: 'idempotent',
      input: onlyFields({
        seconds: z.number().min(1).max(most).optional(),
        until: z.string().max(60).optional(),
      }),
      run: ({ seconds, until }, { key }) =>
        new BoundCall((ports: AgentPorts, signal) => {
          if ((seconds === undefined) === (until === undefined)) throw new Error('Give either "seconds" or "until".')
          const now = ports.clock.now()
          const due =
            seconds === undefined ? scheduling.read!({ at: until! }, now, 1_000).due : now + Math.round(seconds * 1_000)
          if (due - now > maxMs) throw new Error(`That is longer than ${most} seconds, the most allowed.`)
          return asleep(ports, key, due, signal)
        }),
    }),
  )
}

/** Sleeps until it is aborted: the machine ends this effect at once, and the call at its time. */
function asleep(ports: AgentPorts, key: string, due: number, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    ports.sleep(key, due)
  })
}
