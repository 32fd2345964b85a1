import type { McpServer, NewSessionRequest } from '@agentclientprotocol/sdk'
import { z } from 'zod'
import { checkedBy, RuntimeError } from '../../../src/protocol/errors.ts'
import type { Metadata } from '../../../src/protocol/metadata.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'

/** Matches absolute paths of any system: the client's operating system may differ from the server's. */
const absolute = /^(?:\/|\\\\|[A-Za-z]:[\\/])/

const metaSchema = z.object({ definition: z.string().optional() }).optional()

/**
 * Returns the definition of a new session: the one in `_meta.escapement.definition`, else `preferred`, else the first.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function definitionFor(
  access: AgentAccess,
  { _meta }: Pick<NewSessionRequest, '_meta'>,
  preferred?: string,
): string {
  const meta = checkedBy(metaSchema, _meta?.['escapement'], '_meta.escapement')
  const name = meta?.definition ?? preferred ?? access.definitions[0]
  if (name === undefined) throw new RuntimeError('INVALID_OPTION', 'There are no definitions to spawn an agent of.')
  return name
}

/**
 * Checks the folders, which are only recorded: the agent's definition determines which files it may use.
 *
 * @throws RuntimeError `INVALID_OPTION` for a relative `cwd`, and for more folders, which are not announced
 */
export function checkFolders({
  cwd,
  additionalDirectories = [],
}: Pick<NewSessionRequest, 'cwd' | 'additionalDirectories'>) {
  if (!absolute.test(cwd)) throw new RuntimeError('INVALID_OPTION', `cwd must be an absolute path, not "${cwd}".`)
  if (additionalDirectories.length > 0) {
    throw new RuntimeError('INVALID_OPTION', 'additionalDirectories are not supported, as the capabilities say.')
  }
}

/** Metadata key for the folder in which a session was begun. */
const cwdKey = 'acp.cwd'
/** Maximum length of a stored folder in characters, since metadata values are short. */
const maxCwd = 1_024

/** Adds the folder to a new session's metadata, unless the server sets it. Pure. */
export function folderNoted({ cwd }: Pick<NewSessionRequest, 'cwd'>, own: Metadata | undefined): Metadata {
  return cwd.length > maxCwd || (own !== undefined && Object.hasOwn(own, cwdKey)) ? {} : { [cwdKey]: cwd }
}

/** Returns the folder in which a session was begun. `undefined` if ACP did not begin it. Pure. */
export function folderOf(metadata: Metadata | undefined): string | undefined {
  const cwd = metadata?.[cwdKey]
  return typeof cwd === 'string' ? cwd : undefined
}

/** Returns a note to the user about requested MCP servers that are not connected. */
export function mcpRemark(servers: readonly McpServer[]): string | undefined {
  if (servers.length === 0) return undefined
  const names = servers.map(({ name }) => name).join(', ')
  return `MCP servers of the client are not connected (${names}): this agent has the tools of its definition.`
}
