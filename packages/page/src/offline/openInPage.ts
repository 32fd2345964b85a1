import { connect } from '../../../bridge/src/client/connect.ts'
import type { Client } from '../../../bridge/src/client/client.ts'
import { createRuntime, type Runtime } from '../../../bridge/src/createRuntime.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import type { RuntimeOptions } from '../../../runtime/src/runtimeOptions.ts'
import { InProcessServer, type InProcessOptions } from '../../../bridge/src/inProcess/inProcessServer.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { showInspector, type ShownInspector, type ShowOptions } from './showInspector.tsx'

export interface InPageOptions extends InProcessOptions {
  readonly runtime?: RuntimeOptions
}

/** A runtime in a page, with a bridge for clients of the same page. */
export interface InPage {
  readonly runtime: Runtime
  /** Returns a client, as `connect` of `escapement/client` does for a server. */
  connect(): Client
  /** Shows the inspector in an element. */
  show(place: HTMLElement, options?: ShowOptions): ShownInspector
  /** Ends all agents. */
  close(): Promise<void>
}

/** Runs agents in a page. Their data are gone with the page, unless the runtime is given a store that keeps them. */
export async function openInPage({ runtime: given = {}, ...options }: InPageOptions = {}): Promise<InPage> {
  const { store = memoryStore(), clock = systemClock } = given
  const runtime = await createRuntime({ ...given, store, clock })
  const server = new InProcessServer(runtime, { store, clock }, options)
  return {
    runtime,
    connect: () => connect(server.url, { webSocket: server.webSocket, clock }),
    show: (place, how) => showInspector(place, server, how),
    async close() {
      await runtime.close()
      await server.close()
    },
  }
}
