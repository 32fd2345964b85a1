import { z } from 'zod'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { isMemory, type Memory } from '../../../../src/protocol/ports/memory.ts'
import type { MemoryOptions, MemorySettings, NameOwner } from '../../../../src/actors/parts/memory/memoryOptions.ts'
import { pricedModel } from '../../../../src/actors/turn/turnOptions.ts'

const name = lazily(() =>
  z.union([z.string().min(1), z.custom((value) => typeof value === 'function')], {
    error: 'give a name, or a function that returns one',
  }),
)
const timeoutMs = lazily(() => z.number().positive())
const store = lazily(() => z.custom<Memory>(isMemory, 'give a memory, such as markdownMemory(dir)'))

/** Reads the option. A memory without scopes is shared by all agents of the definition. */
export const memorySchema = lazily(() =>
  z.union(
    [
      store(),
      onlyFields({
        store: store(),
        agent: z.boolean().optional(),
        user: name().optional(),
        workspace: name().optional(),
        recall: z
          .union([
            z.literal(false),
            onlyFields({ records: z.int().positive().max(100), tokens: z.int().positive() }).partial(),
          ])
          .optional(),
        extract: z
          .union([z.boolean(), onlyFields({ model: z.unknown(), timeoutMs: timeoutMs() }).partial()])
          .optional(),
        ask: z.enum(['never', 'tainted', 'always']).optional(),
        timeoutMs: timeoutMs().optional(),
      }),
    ],
    {
      // What is wrong in an object is said of its fields.
      error: ({ input }) =>
        typeof input === 'object' && input !== null
          ? undefined
          : 'give a memory, such as markdownMemory(dir), or { store, user, … }',
    },
  ),
)

const naming = <Deps>(given: string | NameOwner<Deps> | undefined): NameOwner<Deps> | null => {
  if (given === undefined) return null
  return typeof given === 'string' ? () => given : given
}

/** @throws RuntimeError `INVALID_DEFINITION` */
export function memoryOf<Deps>(given: Memory | MemoryOptions<Deps>, label: string): MemorySettings<Deps> {
  const options: MemoryOptions<Deps> = isMemory(given) ? { store: given } : given
  const { user, workspace, agent = user === undefined && workspace === undefined, recall = {} } = options
  if (!agent && user === undefined && workspace === undefined)
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: memory: it has no scope: give user or workspace, or agent: true.`,
    )
  return {
    store: options.store,
    agent,
    user: naming(user),
    workspace: naming(workspace),
    recall: recall === false ? null : { records: recall.records ?? 8, tokens: recall.tokens ?? 1_000 },
    extract: extractionOf(options.extract ?? false, label),
    ask: options.ask ?? 'never',
    timeoutMs: options.timeoutMs ?? 5_000,
  }
}

function extractionOf(given: NonNullable<MemoryOptions['extract']>, label: string): MemorySettings['extract'] {
  if (given === false) return null
  const { model, timeoutMs: time = 60_000 } = given === true ? {} : given
  return { model: model === undefined ? null : pricedModel(model, `${label}: memory.extract.model`), timeoutMs: time }
}
