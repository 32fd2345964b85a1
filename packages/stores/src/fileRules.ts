import { constants } from 'node:fs'
import { mkdir, open, readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { RuleStore, StoredRule } from '../../../src/protocol/ports/ruleStore.ts'

const lineSchema = lazily(() =>
  z.object({
    definition: z.string(),
    folder: z.string(),
    rule: z.string(),
    decision: z.enum(['allow', 'deny']),
    removed: z.literal(true).exactOptional(),
  }),
)
type Line = z.infer<ReturnType<typeof lineSchema>>

const ownerOnly = 0o600
const { O_APPEND, O_CREAT, O_WRONLY } = constants

/**
 * Creates a store of rules for `permissions.store`, in a file that only its owner can read and write. Rules hold for a definition and a folder, by
 * default the process's current folder. Several processes may share the file: each change appends one line.
 */
export function fileRules(path: string, { folder = process.cwd() }: { readonly folder?: string } = {}): RuleStore {
  if (typeof path !== 'string' || path === '')
    throw new RuntimeError(
      'INVALID_OPTION',
      `fileRules needs the path of a file, not ${path === '' ? 'an empty text' : typeof path}.`,
    )
  const file = resolve(path)
  const place = resolve(folder)
  const append = async (line: Line): Promise<void> => {
    await mkdir(dirname(file), { recursive: true })
    const handle = await open(file, O_APPEND | O_CREAT | O_WRONLY, ownerOnly)
    try {
      await handle.chmod(ownerOnly)
      // The line before may be torn.
      await handle.write(`\n${JSON.stringify(line)}\n`)
      await handle.datasync()
    } finally {
      await handle.close()
    }
  }
  return {
    async read(definition) {
      const rules = new Map<string, StoredRule>()
      for (const { rule, decision, removed, ...of } of await linesIn(file)) {
        if (of.definition !== definition || of.folder !== place) continue
        const key = `${decision} ${rule}`
        if (removed === true) rules.delete(key)
        else rules.set(key, { rule, decision })
      }
      return [...rules.values()]
    },
    add: (definition, { rule, decision }) => append({ definition, folder: place, rule, decision }),
    remove: (definition, { rule, decision }) => append({ definition, folder: place, rule, decision, removed: true }),
  }
}

/** Returns the complete lines of the file. A torn line was never confirmed. */
async function linesIn(file: string): Promise<readonly Line[]> {
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    if ((thrown as { readonly code?: unknown }).code === 'ENOENT') return ''
    throw thrown
  })
  return text.split('\n').flatMap((line) => {
    const parsed = lineSchema().safeParse(jsonIn(line))
    return parsed.success ? [parsed.data] : []
  })
}

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
