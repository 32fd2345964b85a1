import type { Fault } from '../mutate.ts'

const tokens = 'src/server/bridge/shareTokens.ts'
const tests = ['server/bridge/sharing']

/** Slips in read-only links. */
export const faults: readonly Fault[] = [
  {
    id: 'sharing-1',
    file: tokens,
    what: 'a token that nobody signed is taken',
    from: 'if (!timingSafeEqual(given, own)) return undefined',
    to: 'timingSafeEqual(given, own)',
    tests,
  },
  {
    id: 'sharing-2',
    file: tokens,
    what: 'a link never ends',
    from: 'return this.#clock.now() >= expiresAt',
    to: 'return this.#clock.now() < 0 && expiresAt > 0',
    tests,
  },
  {
    id: 'sharing-3',
    file: tokens,
    what: 'a link lets drive',
    from: "{ role: 'observe', agents: [agentId]",
    to: "{ role: 'drive', agents: [agentId]",
    tests,
  },
  {
    id: 'sharing-4',
    file: 'src/server/bridge/authenticator.ts',
    what: 'the application is asked about the token of a link, and may let everyone in',
    from: 'authenticate === undefined || isMadeToken(token)',
    to: 'authenticate === undefined',
    tests,
  },
  {
    id: 'sharing-5',
    file: 'src/server/bridge/bridgeSession.ts',
    what: 'who has come by a link stays when it is over',
    from: 'if (permit.expiresAt !== undefined) this.#leaveAt(permit.expiresAt)',
    to: '',
    tests,
  },
  {
    id: 'sharing-6',
    file: 'src/server/bridge/shareLink.ts',
    what: 'a link shows what its maker does not see',
    from: 'metadata: access.metadata, expiresAt',
    to: 'metadata: undefined, expiresAt',
    tests,
  },
  {
    id: 'sharing-past-1',
    file: 'src/server/bridge/sharedPast.ts',
    what: 'a fork shows what its source did after it was left',
    from: 'part.upTo === Infinity ? { ...part, upTo: source.seq } : part',
    to: 'part.upTo === Infinity ? { ...part, upTo: source.seq + 1 } : part',
    tests: ['server/bridge/sharedPast'],
  },
  {
    id: 'sharing-past-2',
    file: 'src/server/bridge/sharedPast.ts',
    what: 'the past of a fork is read by whoever asks',
    from: 'const created = await createdOf(access, agentId)',
    to: 'const { created } = (await historyParts(bridge.store, agentId)).at(-1)!',
    tests: ['server/bridge/sharedPast'],
  },
  {
    id: 'sharing-past-3',
    file: 'src/server/bridge/commandTable.ts',
    what: 'a list of sessions names the source that a token does not reach',
    from: 'sessionEntry(session, await access.sourceOf(session))',
    to: 'sessionEntry(session, session.forkedFrom?.agentId)',
    tests: ['server/bridge/sharedPast'],
  },
  {
    id: 'sharing-definitions',
    file: 'src/server/bridge/bridgeSession.ts',
    what: 'a link tells of every definition of the server',
    from: 'relay?.definitions ?? access.knownDefinitions',
    to: 'relay?.definitions ?? access.definitions',
    tests,
  },
  {
    id: 'sharing-ownToken',
    file: 'src/server/bridge/serveOptions.ts',
    what: 'a token that looks like one of a link is configured, and never accepted',
    from: '!Object.keys(tokens).some((token) => isShareToken(token))',
    to: 'Object.keys(tokens).every((token) => !isShareToken(token) || true)',
    tests,
  },
]
