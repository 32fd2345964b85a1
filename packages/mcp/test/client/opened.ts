import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AnyTool, Tool, ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import type { SourceHost, ToolConnection } from '../../../../src/actors/tools/toolSource.ts'
import { mcpTools } from '../../src/client/mcpTools.ts'
import type { McpOptions } from '../../src/client/options.ts'
import type { SaidBlock } from '../../../../src/protocol/text/saidContent.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import type { Raw } from './servers/rawServer.ts'

const rawServer = join(import.meta.dirname, 'servers', 'rawServer.ts')

/** The command of a server that does what `what` says. */
export const raw = (
  what: Raw = {},
): { readonly name: string; readonly command: string; readonly args: readonly string[] } => ({
  name: 'raw',
  command: process.execPath,
  args: [rawServer, JSON.stringify(what)],
})

/** An open connection, and a way to call its tools by hand. */
export interface Opened {
  readonly connection: ToolConnection
  /** Log, a line each. */
  readonly log: readonly string[]
  names(): readonly string[]
  tool(name: string): Tool
  /** Rejects with what the tool throws, and for arguments that it refuses. */
  call(name: string, input?: object, context?: Partial<ToolContext>): Promise<string | readonly SaidBlock[]>
  /** The text of the result. */
  text(name: string, input?: object, context?: Partial<ToolContext>): Promise<string>
}

/** Opens a connection without waiting for it; it is closed after the case. */
export function opening({ cleanup }: CaseContext, options: McpOptions, host: Partial<SourceHost> = {}): Opened {
  const log: string[] = []
  const line = (fields: object, message: string): void => void log.push(`${message} ${JSON.stringify(fields)}`)
  const logger = { debug: line, info: line, warn: line, error: line }
  const connection = mcpTools({ approve: 'none', ...options }).open({ clock: systemClock, logger, ...host })
  cleanup(() => connection.close())
  const tool = (name: string): Tool => {
    const found = connection.tools.find((one: AnyTool) => one.name === name)
    if (found === undefined) throw new Error(`There is no tool ${name}`)
    return found as Tool
  }
  const call: Opened['call'] = async (name, input = {}, context = {}) => {
    const one = tool(name)
    const read = one.parse(input)
    if (!read.ok) throw new Error(read.message)
    return (await one.run(read.value, { ...toolContext(), ...context })) as string | readonly SaidBlock[]
  }
  return {
    connection,
    log,
    names: () => connection.tools.map(({ name }) => name),
    tool,
    call,
    text: async (...args) => textOf(await call(...args)),
  }
}

/** Opens a connection and waits until it knows its tools, or has given up for now. */
export async function opened(
  context: CaseContext,
  options: McpOptions,
  host: Partial<SourceHost> = {},
): Promise<Opened> {
  const open = opening(context, options, host)
  await open.connection.ready(context.signal)
  return open
}

export const textOf = (blocks: string | readonly SaidBlock[]): string =>
  typeof blocks === 'string'
    ? blocks
    : blocks.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n')

/** A folder that is removed after the case. */
export async function tempFolder({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'escapement-mcp-'))
  cleanup(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export const linesOf = async (file: string): Promise<readonly string[]> =>
  (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')

/** Looks until something is so; the case's deadline ends it. */
export async function until(isSo: () => boolean | Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!(await isSo())) {
    signal.throwIfAborted()
    await new Promise((resolve) => void setTimeout(resolve, 10))
  }
}
