import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join, resolve as absolute } from 'node:path'
import type { OAuthClientMetadata, OAuthClientProvider } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { checkedBy, hasCode, messageOf } from '../../../../src/protocol/errors.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import type { McpAuth } from './options.ts'
import type { SignsIn } from './signIn.ts'
import { callbackPath, listenForSignIn, type SignInListener } from './signInListener.ts'

export interface FileAuthOptions {
  /** Shows a person the address for signing in. Default: a line on standard error. */
  readonly show?: (address: URL) => void
  /** Port of this machine to which the browser is redirected. Default: a fixed port derived from the folder's path. */
  readonly port?: number
  /** OAuth scope to request from the server. */
  readonly scope?: string
  /** Id of a client that was registered by hand, for servers without automatic registration. */
  readonly clientId?: string
  readonly clientSecret?: string
}

const optionsSchema = onlyFields({
  show: z.custom((value) => typeof value === 'function', 'give a function'),
  port: z.int().min(1).max(65_535),
  scope: z.string().min(1),
  clientId: z.string().min(1),
  clientSecret: z.string().min(1),
}).partial()

const record = z.record(z.string(), z.unknown())
const keptSchema = z.looseObject({
  client: record.optional(),
  tokens: record.optional(),
  verifier: z.string().optional(),
  discovery: record.optional(),
})
type Kept = z.infer<typeof keptSchema>

/**
 * Signs in to a server with OAuth, for programs at a terminal: `auth` of `mcpTools`. A person opens the address that is shown, and is sent back
 * to a port of this machine. Tokens are kept in `dir`, in a file that only its owner may read, and are refreshed as needed; give each server a
 * folder of its own. Meanwhile agents run without the server's tools.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function fileAuth(dir: string, options: FileAuthOptions = {}): McpAuth {
  checkedBy(z.object({ dir: z.string().min(1), options: optionsSchema }), { dir, options }, 'fileAuth')
  return new FileAuth(absolute(dir), options)
}

class FileAuth implements OAuthClientProvider, SignsIn {
  readonly redirectUrl: string
  readonly clientMetadata: OAuthClientMetadata
  readonly #file: string
  readonly #dir: string
  readonly #port: number
  readonly #options: FileAuthOptions
  /** `state` parameter of the current sign-in. */
  #state = ''
  #listener: SignInListener | undefined
  /** Last write, for which the next one waits. */
  #writing: Promise<unknown> = Promise.resolve()

  constructor(dir: string, options: FileAuthOptions) {
    this.#dir = dir
    this.#file = join(dir, 'oauth.json')
    this.#options = options
    this.#port = options.port ?? portOf(dir)
    this.redirectUrl = `http://127.0.0.1:${this.#port}${callbackPath}`
    this.clientMetadata = {
      client_name: 'escapement',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: options.clientSecret === undefined ? 'none' : 'client_secret_post',
      ...(options.scope === undefined ? {} : { scope: options.scope }),
    }
  }

  state(): string {
    this.#state = randomBytes(16).toString('hex')
    return this.#state
  }

  async clientInformation() {
    const { clientId, clientSecret } = this.#options
    if (clientId !== undefined)
      return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) }
    return (await this.#read()).client as Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
  }

  saveClientInformation(client: object): Promise<void> {
    return this.#change({ client: { ...client } })
  }

  async tokens() {
    return (await this.#read()).tokens as Awaited<ReturnType<OAuthClientProvider['tokens']>>
  }

  saveTokens(tokens: object): Promise<void> {
    return this.#change({ tokens: { ...tokens }, verifier: undefined })
  }

  /** Shows the address once a listener waits for the browser to come back. */
  async redirectToAuthorization(address: URL): Promise<void> {
    this.#listener?.stop()
    this.#listener = undefined
    this.#listener = await listenForSignIn(this.#port, this.#state).catch((thrown: unknown) => {
      const what = `port ${this.#port}, to which a browser would be sent back, cannot be had: ${messageOf(thrown)}`
      throw new Error(what, { cause: thrown })
    })
    const show = this.#options.show ?? ((url: URL) => void process.stderr.write(`Sign in here: ${url.href}\n`))
    show(address)
  }

  saveCodeVerifier(verifier: string): Promise<void> {
    return this.#change({ verifier })
  }

  async codeVerifier(): Promise<string> {
    const { verifier } = await this.#read()
    if (verifier === undefined) throw new Error('No sign-in is under way.')
    return verifier
  }

  saveDiscoveryState(discovery: object): Promise<void> {
    return this.#change({ discovery: { ...discovery } })
  }

  async discoveryState() {
    const { discovery } = await this.#read()
    return discovery as Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    const none = { client: undefined, tokens: undefined, verifier: undefined, discovery: undefined }
    return this.#change(scope === 'all' ? none : { [scope]: undefined })
  }

  signedIn(signal: AbortSignal): Promise<URLSearchParams> {
    const listener = this.#listener
    if (listener === undefined) return Promise.reject(new Error('no sign-in is under way'))
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        listener.stop()
        reject(new Error('it is no longer waited for'))
      }
      signal.addEventListener('abort', stop)
      void listener.came.then((parameters) => {
        signal.removeEventListener('abort', stop)
        resolve(parameters)
      })
      if (signal.aborted) stop()
    })
  }

  /** Reads the stored record; a damaged file counts as empty, so that a person signs in again. */
  async #read(): Promise<Kept> {
    const text = await readFile(this.#file, 'utf8').catch((thrown: unknown) => {
      if (hasCode(thrown, 'ENOENT')) return '{}'
      throw thrown
    })
    try {
      return keptSchema.catch({}).parse(JSON.parse(text))
    } catch {
      return {}
    }
  }

  #change(change: Partial<Kept>): Promise<void> {
    const written = this.#writing.then(async () => this.#write({ ...(await this.#read()), ...change }))
    this.#writing = written.catch(() => {})
    return written
  }

  /** Writes the record atomically, even if the process ends meanwhile. */
  async #write(kept: Kept): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 })
    const draft = `${this.#file}.${randomBytes(6).toString('hex')}.tmp`
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify(kept, null, 2)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, this.#file)
  }
}

/** Returns a port of the unassigned range, always the same for a folder, because servers register the client with its address. */
const portOf = (dir: string): number => 49_152 + (createHash('sha256').update(dir).digest().readUInt32BE(0) % 16_384)
