import { z } from 'zod'
import { lazily } from '../lazily.ts'

/** Functions that make the schemas of objects, by their `type`. */
type Makers = { readonly [type: string]: () => z.ZodObject }

/** Objects that their `type` tells apart. The schema of each is made when the first of them is met, as a process meets few of all that there are. */
export interface Variants<M extends Makers> {
  readonly makers: M
  /** The schema of all of them. */
  readonly schema: () => z.ZodDiscriminatedUnion<ReturnType<M[keyof M]>[], 'type'>
  /** Parses as `schema().safeParse(value)` does, but makes only the schema of the type that the value names. */
  readonly safeParse: (value: unknown) => z.ZodSafeParseResult<z.output<ReturnType<M[keyof M]>>>
}

export function variants<const M extends Makers>(given: M): Variants<M> {
  const makers = Object.fromEntries(Object.entries(given).map(([type, make]) => [type, lazily(make)])) as unknown as M
  const schema = lazily(() =>
    z.discriminatedUnion('type', Object.values(makers).map((make) => make()) as never),
  ) as unknown as Variants<M>['schema']
  return {
    makers,
    schema,
    safeParse(value) {
      const type = (value as { readonly type?: unknown } | null | undefined)?.type
      const known = typeof type === 'string' && Object.hasOwn(makers, type) ? makers[type]!() : schema()
      return known.safeParse(value) as never
    },
  }
}
