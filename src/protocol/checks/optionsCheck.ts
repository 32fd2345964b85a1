import { z } from 'zod'
import { describeIssues } from '../errors.ts'
import { lazily } from '../lazily.ts'
import { unknownField } from './nearestWord.ts'

/** Options by name, each with a function that builds its schema. */
export type OptionSchemas = Readonly<Record<string, () => z.ZodType>>

/**
 * Returns a function that checks options and describes their faults. Optional ones may be `undefined`. An
 * option's schema is built when the option is first given.
 */
export function optionsCheck(
  required: OptionSchemas,
  optional: OptionSchemas,
): (options: unknown) => string | undefined {
  const schemas = new Map(Object.entries({ ...required, ...optional }).map(([name, make]) => [name, lazily(make)]))
  const names = [...schemas.keys()]
  const needed = Object.keys(required).length === 0 ? '' : `: give { ${Object.keys(required).join(', ')} }`
  return (options) => {
    if (typeof options !== 'object' || options === null || Array.isArray(options))
      return `${describeIssues(z.looseObject({}).safeParse(options).error!)}${needed}`
    const wrong: string[] = []
    for (const [name, schema] of schemas) {
      const value: unknown = Reflect.get(options, name)
      if (value === undefined && !Object.hasOwn(required, name)) continue
      const { error } = schema().safeParse(value, { reportInput: true })
      if (error !== undefined) wrong.push(describeIssues(error, [name]))
    }
    for (const name of Object.keys(options)) if (!schemas.has(name)) wrong.push(unknownField(name, names))
    return wrong.length === 0 ? undefined : wrong.join('; ')
  }
}
