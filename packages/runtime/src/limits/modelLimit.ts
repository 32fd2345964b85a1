import { z } from 'zod'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'

/** Limit on all calls of some models together, in one runtime. Fields that are left out are unlimited. */
export interface ModelLimit {
  /** Ids of the models, where `*` stands for any text: `anthropic:*`. Default: all. */
  readonly match?: string
  /** Maximum number of simultaneous calls. */
  readonly concurrency?: number
  /** Maximum number of calls that begin in any 60 seconds. */
  readonly requestsPerMinute?: number
  /**
   * Maximum number of tokens of the calls that begin in any 60 seconds, including cached ones. A request counts by its estimate until its reply
   * reports the usage.
   */
  readonly tokensPerMinute?: number
}

/** One limit, or several: a call waits until every one that matches its model has room. */
export type ModelLimits = ModelLimit | readonly ModelLimit[]

const limitSchema = lazily(() => {
  const count = z.int().positive()
  return onlyFields({
    match: z.string().min(1).optional(),
    concurrency: count.optional(),
    requestsPerMinute: count.optional(),
    tokensPerMinute: count.optional(),
  })
})

/** The limits as an option. */
export const modelLimitsSchema = lazily(() => z.union([limitSchema(), z.array(limitSchema())]))

/** Returns true if a limit holds for the model with this id. */
export function covers({ match = '*' }: ModelLimit, model: string): boolean {
  const [first = '', ...rest] = match.split('*')
  const last = rest.pop()
  if (last === undefined) return model === match
  if (!model.startsWith(first) || !model.endsWith(last) || model.length < first.length + last.length) return false
  let from = first.length
  for (const piece of rest) {
    const at = model.indexOf(piece, from)
    if (at < 0) return false
    from = at + piece.length
  }
  return from <= model.length - last.length
}
