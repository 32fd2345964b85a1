import { parseArgs } from 'node:util'
import { isTemplate, templateNames, type TemplateName } from './templates.ts'

/** Choices made on the command line; those that are missing are asked at a terminal. */
export interface Wish {
  readonly type: 'create'
  readonly folder: string | undefined
  readonly template: TemplateName | undefined
}

export type Arguments =
  | Wish
  | { readonly type: 'help' }
  | { readonly type: 'version' }
  | { readonly type: 'mistake'; readonly message: string }

/** Reads the words after the program's name. Never throws. Pure. */
export function readArguments(words: readonly string[]): Arguments {
  const { tokens } = parseArgs({
    args: [...words],
    options: {
      template: { type: 'string', short: 't' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const folders = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  let template: TemplateName | undefined
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    if (token.name === 'help') return { type: 'help' }
    if (token.name === 'version') return { type: 'version' }
    if (token.name !== 'template') return mistake(`There is no option ${token.rawName}: there is --template.`)
    if (token.value === undefined || !isTemplate(token.value))
      return mistake(`There is no template ${JSON.stringify(token.value ?? '')}: take ${listed(templateNames)}.`)
    template = token.value
  }
  if (folders.length > 1) return mistake(`Give one folder; these are ${folders.length}: ${folders.join(' ')}`)
  return { type: 'create', folder: folders[0], template }
}

const mistake = (message: string): Arguments => ({ type: 'mistake', message })

const listed = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
