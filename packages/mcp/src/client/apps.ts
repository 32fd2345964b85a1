import { z } from 'zod'
import type { ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { mcpAppName, type McpAppData } from '../../../bridge/src/client/apps/mcpApp.ts'
import { appType } from './appType.ts'
import type { ListedTool } from './listTools.ts'
import { checkDepth, type CallResult } from './resultBlocks.ts'
import type { Server } from './server.ts'

/** Maximum length of an app, in UTF-16 units. */
const mostChars = 4_000_000

const domains = z.array(z.string()).optional().catch(undefined)
const resourceSchema = z.looseObject({
  contents: z.array(
    z.looseObject({
      uri: z.string(),
      mimeType: z.string().optional(),
      text: z.string().optional(),
      blob: z.string().optional(),
      _meta: z
        .looseObject({
          ui: z
            .looseObject({
              csp: z
                .object({ connectDomains: domains, resourceDomains: domains, frameDomains: domains })
                .optional()
                .catch(undefined),
              prefersBorder: z.boolean().optional().catch(undefined),
            })
            .optional()
            .catch(undefined),
        })
        .optional()
        .catch(undefined),
    }),
  ),
})

const uiSchema = z.looseObject({
  ui: z
    .looseObject({
      resourceUri: z.string().optional().catch(undefined),
      visibility: z.array(z.string()).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  /** The same address under the key that older servers use. */
  'ui/resourceUri': z.string().optional().catch(undefined),
})

/** Returns the address of the app that shows the results of a tool; `undefined` if there is none. Pure. */
export function appOf({ _meta: meta }: ListedTool): string | undefined {
  const read = uiSchema.safeParse(meta)
  const uri = read.data?.ui?.resourceUri ?? read.data?.['ui/resourceUri']
  return uri?.startsWith('ui://') === true ? uri : undefined
}

/** Returns true for a tool that only the server's apps are to call. Pure. */
export function isForApps({ _meta: meta }: ListedTool): boolean {
  const visibility = uiSchema.safeParse(meta).data?.ui?.visibility
  return visibility !== undefined && !visibility.includes('model')
}

type App = Pick<McpAppData, 'html' | 'csp' | 'border'>

/** The apps of a server, each read once. */
export class Apps {
  readonly #read = new Map<string, Promise<App>>()
  readonly #debug: (message: string) => void

  constructor(debug: (message: string) => void) {
    this.#debug = debug
  }

  /** Passes the app of a result to the application, with the result. An app that cannot be read is left out. Never rejects. */
  async give(
    server: Server,
    { uri, tool, name }: { readonly uri: string; readonly tool: string; readonly name: string },
    result: CallResult,
    { give, signal }: ToolContext,
  ): Promise<void> {
    try {
      let reading = this.#read.get(uri)
      if (reading === undefined) this.#read.set(uri, (reading = readApp(server, uri, signal)))
      const app = await reading
      const { content, structuredContent, isError, _meta } = result
      const shown = JSON.parse(JSON.stringify({ content, structuredContent, isError, _meta })) as McpAppData['result']
      give({ server: name, uri, tool, ...app, result: shown } satisfies McpAppData, mcpAppName)
    } catch (thrown) {
      this.#read.delete(uri)
      if (!signal.aborted) this.#debug(`its app ${JSON.stringify(uri)} cannot be shown: ${messageOf(thrown)}`)
    }
  }
}

async function readApp(server: Server, uri: string, signal: AbortSignal): Promise<App> {
  const request = { method: 'resources/read', params: { uri } }
  const { contents } = checkDepth(await server.client.request(request, resourceSchema, { signal }))
  const found = contents.find(({ mimeType = '' }) => mimeType.replaceAll(' ', '').toLowerCase() === appType)
  if (found === undefined) throw new Error(`there is nothing of the type ${appType}`)
  const { text, blob, _meta: meta } = found
  const html = server.clean(text ?? Buffer.from(blob ?? '', 'base64').toString('utf8'))
  if (html.length > mostChars) throw new Error(`it has ${html.length} characters, more than ${mostChars}`)
  const csp = meta?.ui?.csp
  return {
    html,
    ...(csp === undefined ? {} : { csp: JSON.parse(JSON.stringify(csp)) as NonNullable<App['csp']> }),
    ...(meta?.ui?.prefersBorder === undefined ? {} : { border: meta.ui.prefersBorder }),
  }
}
