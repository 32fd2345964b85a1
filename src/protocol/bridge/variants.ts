import { z } from 'zod'
import { lazily } from '../lazily.ts'

type Makers = { readonly [type: string]: () => z.ZodObject }

/** Union of object schemas, told apart by `type`. Each schema is built on first use, because a process uses few of them. */
export interface Variants<M extends Makers> {
  readonly makers: M
  readonly schema: () => z.ZodDiscriminatedUnion<ReturnType<M[keyof M]>[], 'type'>
  /** Parses as `schema().safeParse(value)` does, but builds only the schema for the value's type. */
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
