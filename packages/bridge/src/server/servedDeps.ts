import { callbackBugs } from '../../../../src/protocol/callbackBugs.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { ResumeAllOptions } from '../../../waking/src/resumeAll.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'

/** Returns the dependencies of an agent, called when the server spawns it or loads it from its log. */
export type ServedDeps = NonNullable<ResumeAllOptions['deps']>

/**
 * Resolves to the dependencies of an agent. The reason for a failure stays on the server, as `cause`.
 *
 * @throws RuntimeError `INVALID_DEPS`
 */
export async function depsOf(
  deps: ServedDeps | undefined,
  { name }: AgentDefinition,
  { id, metadata }: { readonly id: string; readonly metadata?: Metadata | undefined },
): Promise<{ readonly deps?: unknown }> {
  if (deps === undefined) return {}
  try {
    return { deps: await deps({ id, definition: name, ...(metadata === undefined ? {} : { metadata }) }) }
  } catch (thrown) {
    callbackBugs.tell('deps of serve', thrown)
    throw new RuntimeError('INVALID_DEPS', `The deps of agent "${id}" could not be made.`, { cause: thrown })
  }
}
