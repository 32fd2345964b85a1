import type { Client } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { describeIssues } from '../../../../src/protocol/errors.ts'
import { isNestedDeeper } from '../../../../src/protocol/checks/nesting.ts'

/** Fields used of a tool in a server's list. */
const toolSchema = z.looseObject({
  name: z.string(),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.looseObject({}),
  annotations: z
    .looseObject({
      title: z.string().optional().catch(undefined),
      readOnlyHint: z.boolean().optional().catch(undefined),
      idempotentHint: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  _meta: z.looseObject({}).optional().catch(undefined),
  execution: z.looseObject({ taskSupport: z.string().optional() }).optional().catch(undefined),
})
/** A tool of a server. `isTask`: it is called as a task. */
export type ListedTool = z.infer<typeof toolSchema> & { readonly isTask?: boolean }

export interface Listed {
  readonly tools: readonly ListedTool[]
  /** The tools that were left out, with reasons. */
  readonly trouble: readonly string[]
}

const mostPages = 64
const mostTools = 1_000
/** Maximum nesting of a schema, far more than real schemas have. Deeper nesting could exhaust the stack of its reader. */
const mostLevels = 200

const pageOf = (field: string) =>
  z.looseObject({ [field]: z.array(z.unknown()), nextCursor: z.string().optional().catch(undefined) })

interface Request {
  readonly signal: AbortSignal
  readonly timeout: number
}

/** Returns all entries of a list, page by page. The rest of an endless list is left out, as `isCut` reports. */
export async function listAll(
  client: Client,
  method: 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list',
  field: string,
  options: Request,
): Promise<{ readonly entries: readonly unknown[]; readonly isCut: boolean }> {
  const entries: unknown[] = []
  const schema = pageOf(field)
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const answer: z.infer<typeof schema> = await client.request({ method, params }, schema, options)
    entries.push(...(answer[field] as readonly unknown[]))
    const next = answer['nextCursor'] as string | undefined
    if (entries.length > mostTools) break
    if (next === undefined || next === '') return { entries, isCut: false }
    cursor = next
  }
  return { entries: entries.slice(0, mostTools), isCut: true }
}

/**
 * Returns the tools of a server, cleaned by `clean`; unwanted tools are skipped silently. The SDK's
 * own list fails as a whole; here only a malformed tool is lost.
 */
export async function listTools(
  client: Client,
  options: Request,
  clean: <T>(value: T) => T,
  isWanted: (name: string) => boolean,
): Promise<Listed> {
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], trouble: [] }
  const { entries, isCut } = await listAll(client, 'tools/list', 'tools', options)
  const hasTasks = client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined
  const tools = new Map<string, ListedTool>()
  const trouble: string[] = isCut ? [`its list does not end: only ${mostTools} tools at most are taken`] : []
  for (const whole of entries) {
    const isDeep = isNestedDeeper(whole, mostLevels)
    const entry = clean(isDeep ? nameAlone(whole as object) : whole)
    const read = toolSchema.safeParse(entry)
    const wrong = isDeep ? `it is nested deeper than ${mostLevels} levels` : wrongIn(read, tools, hasTasks)
    if (wrong === undefined) tools.set(read.data!.name, { ...read.data!, isTask: hasTasks && isTask(read.data!) })
    else if (isWanted(textIn(entry))) trouble.push(`tool ${nameIn(entry)}: ${wrong}`)
  }
  return { tools: [...tools.values()], trouble }
}

const nameAlone = ({ name }: { readonly name?: unknown }): object => (typeof name === 'string' ? { name } : {})

const nameOf = (entry: unknown): unknown => (entry as { readonly name?: unknown } | null)?.name ?? null

const textIn = (entry: unknown): string => {
  const name = nameOf(entry)
  return typeof name === 'string' ? name : ''
}

const nameIn = (entry: unknown): string => JSON.stringify(nameOf(entry)).slice(0, 80)

const isTask = ({ execution }: z.infer<typeof toolSchema>): boolean =>
  execution?.taskSupport === 'required' || execution?.taskSupport === 'optional'

/** Maximum length of a schema. Reading a longer one would block the process. */
const mostReadChars = 2_000_000

function wrongIn(
  { data: tool, error }: z.ZodSafeParseResult<z.infer<typeof toolSchema>>,
  known: ReadonlyMap<string, ListedTool>,
  hasTasks: boolean,
): string | undefined {
  if (error !== undefined) return describeIssues(error)
  if (known.has(tool.name)) return 'its name is there twice'
  if (tool.execution?.taskSupport === 'required' && !hasTasks)
    return 'it runs only as a task, and the server says of itself that it has none'
  const { type } = tool.inputSchema
  if (type !== undefined && type !== 'object') return `its input is ${JSON.stringify(type)}, not an object`
  const chars = JSON.stringify(tool.inputSchema).length
  return chars > mostReadChars ? `its schema has ${chars} characters` : undefined
}
