import { createInterface } from 'node:readline/promises'
import type { Wish } from './readArguments.ts'
import { isTemplate, templateNames, templates, type TemplateName } from './templates.ts'

/** Asks at a terminal for what is missing; `undefined`: the person left. */
export async function askFor(
  { folder, template }: Wish,
  { input, output }: { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream },
): Promise<{ readonly folder: string; readonly template: TemplateName } | undefined> {
  const terminal = createInterface({ input, output })
  const left = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)))
  const ask = (question: string): Promise<string | undefined> => Promise.race([terminal.question(question), left])
  try {
    const place = folder ?? (await ask('Folder (my-agents): '))
    if (place === undefined) return undefined
    const chosen = template ?? (await askTemplate(ask, output))
    return chosen === undefined ? undefined : { folder: place.trim() || 'my-agents', template: chosen }
  } finally {
    terminal.close()
  }
}

async function askTemplate(
  ask: (question: string) => Promise<string | undefined>,
  output: NodeJS.WritableStream,
): Promise<TemplateName | undefined> {
  for (const [index, name] of templateNames.entries())
    output.write(`  ${index + 1}  ${name.padEnd(6)} ${templates[name]}\n`)
  for (;;) {
    const said = (await ask('Template (1): '))?.trim()
    if (said === undefined) return undefined
    const name = said === '' ? templateNames[0] : (templateNames[Number(said) - 1] ?? said)
    if (name !== undefined && isTemplate(name)) return name
    output.write(`There is no template "${said}": give a number from 1 to ${templateNames.length}, or a name.\n`)
  }
}
