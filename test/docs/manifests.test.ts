import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'
import { commands } from '../../packages/cli/src/commandList.ts'
import { parseCommandLine, type Invocation } from '../../packages/cli/src/commandLine.ts'
import { engineSettings } from '../../packages/cli/src/cluster/engine.ts'
import { healthPath } from '../../packages/bridge/src/server/places.ts'
import { ImportGraph } from '../support/importGraph.ts'
import { assert, describe } from '../support/suite.ts'

const folder = new URL('../../examples/cluster/', import.meta.url)
const read = (name: string): Promise<string> => readFile(new URL(name, folder), 'utf8')

interface Port {
  readonly name?: string
  readonly port?: number | string
  readonly containerPort?: number
  readonly targetPort?: number | string
}

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string }
  readonly tcpSocket?: { readonly port: string }
}

interface Container {
  readonly name: string
  readonly image: string
  readonly args?: readonly string[]
  readonly env?: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } }
  }[]
  readonly ports: readonly Port[]
  readonly startupProbe?: Probe
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
  readonly volumeMounts?: readonly { readonly name: string }[]
}

type Labels = { readonly app: string }

/** Fields that these tests look at in an object of Kubernetes, whatever its kind. */
interface Manifest {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: { readonly name: string }
  readonly data?: { readonly [key: string]: string }
  readonly stringData?: { readonly [key: string]: string }
  readonly spec: {
    readonly selector?: { readonly matchLabels?: Labels } & Partial<Labels>
    readonly podSelector?: { readonly matchLabels: Labels }
    readonly ports?: readonly Port[]
    readonly serviceName?: string
    readonly template: {
      readonly metadata: { readonly labels: Labels }
      readonly spec: {
        readonly terminationGracePeriodSeconds?: number
        readonly containers: readonly Container[]
        readonly volumes?: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[]
      }
    }
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
    readonly ingress?: readonly {
      readonly from?: readonly { readonly podSelector: { readonly matchLabels: Labels } }[]
      readonly ports?: readonly Port[]
    }[]
    readonly rules?: readonly {
      readonly http: {
        readonly paths: readonly {
          readonly backend: { readonly service: { readonly name: string; readonly port: Port } }
        }[]
      }
    }[]
  }
}

const documents = parseAllDocuments(await read('kubernetes.yaml'))
const objects = documents.map((document) => document.toJS() as Manifest)
const ofKind = (...wanted: readonly Manifest['kind'][]): Manifest[] =>
  objects.filter(({ kind }) => wanted.includes(kind))
const named = (kind: Manifest['kind'], name: string): Manifest => {
  const found = ofKind(kind).find(({ metadata }) => metadata.name === name)
  assert.ok(found, `there is no ${kind} ${name}`)
  return found
}
const workloads = ofKind('Deployment', 'StatefulSet')
const containersOf = ({ spec }: Manifest): readonly Container[] => spec.template.spec.containers
const containers = workloads.flatMap(containersOf)
const appOf = (app: string): Manifest => {
  const found = workloads.find(({ spec }) => spec.template.metadata.labels.app === app)
  assert.ok(found, `nothing has the label app: ${app}`)
  return found
}
const portNames = (workload: Manifest): (string | undefined)[] =>
  containersOf(workload).flatMap(({ ports }) => ports.map(({ name }) => name))

interface ComposeService {
  readonly image?: string
  readonly build?: string
  readonly command?: readonly string[]
  readonly environment?: { readonly [name: string]: string }
  readonly depends_on?: { readonly [name: string]: { readonly condition: string } }
  readonly volumes?: readonly string[]
  readonly configs?: readonly { readonly source: string; readonly target: string }[]
  readonly ports?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly stop_grace_period?: string
  readonly secrets?: readonly string[]
  readonly networks?: readonly string[]
}

interface Compose {
  readonly services: { readonly [name: string]: ComposeService }
  readonly volumes: { readonly [name: string]: unknown }
  readonly configs: { readonly [name: string]: { readonly file: string } }
}

const compose = parse(await read('compose.yaml'), { merge: true }) as Compose
const services = Object.entries(compose.services)

/** A command line of ours, as the program reads it. */
function invocationOf(args: readonly string[]): Invocation {
  const line = parseCommandLine(args, commands)
  assert.is(line.type, 'command', JSON.stringify(line))
  return (line as { readonly invocation: Invocation }).invocation
}

const invocations = [
  ...containers.flatMap(({ image, args }) => (image.startsWith('registry.example/') ? [args ?? []] : [])),
  ...services.flatMap(([, { build, command }]) => (build === undefined ? [] : [command ?? []])),
].map(invocationOf)

/** Variables of the environment that programs of ours read. */
async function variablesRead(): Promise<Set<string>> {
  const files = [
    ...new ImportGraph(fileURLToPath(new URL('../..', import.meta.url))).reachedFrom('packages/cli/src/main.ts'),
  ]
  const texts = await Promise.all(files.map((file) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8')))
  return new Set(texts.flatMap((text) => [...text.matchAll(/'(ESCAPEMENT_\w+)'/g)].map(([, name]) => name!)))
}

/** The ports that an engine has, unless it is told others. */
const enginePorts = [8080, 9070]

describe('the manifests for Kubernetes', (it) => {
  it('are YAML', () => {
    assert.ok(documents.length > 10)
    for (const document of documents) assert.equal(document.errors, [])
  })

  it('name each object once, and each container has an image of a version', () => {
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    assert.equal(names, [...new Set(names)])
    for (const { image } of containers) assert.match(image, /:[\d.]+$/)
  })

  it('select what there is', () => {
    for (const { spec } of workloads) assert.equal(spec.selector?.matchLabels, spec.template.metadata.labels)
    for (const { spec } of ofKind('PodDisruptionBudget')) appOf(spec.selector!.matchLabels!.app)
    for (const { spec } of ofKind('Service')) {
      const workload = appOf(spec.selector!.app!)
      for (const { targetPort } of spec.ports!) assert.ok(portNames(workload).includes(targetPort as string))
    }
    for (const { spec } of ofKind('NetworkPolicy')) {
      const workload = appOf(spec.podSelector!.matchLabels.app)
      for (const { from, ports = [] } of spec.ingress!) {
        for (const { podSelector } of from ?? []) appOf(podSelector.matchLabels.app)
        for (const { port } of ports) assert.ok(portNames(workload).includes(port as string), String(port))
      }
    }
    for (const { spec } of ofKind('StatefulSet')) named('Service', spec.serviceName!)
    for (const { spec } of ofKind('Ingress'))
      for (const { backend } of spec.rules!.flatMap(({ http }) => http.paths)) {
        const { ports } = named('Service', backend.service.name).spec
        assert.ok(ports!.some(({ name }) => name === backend.service.port.name))
      }
  })

  it('have the secrets, files and volumes that they name', () => {
    for (const { env = [] } of containers)
      for (const { valueFrom } of env) {
        const wanted = valueFrom?.secretKeyRef
        if (wanted !== undefined) assert.ok(wanted.key in named('Secret', wanted.name).stringData!, wanted.key)
      }
    for (const { spec } of workloads) {
      const { volumes = [], containers: own } = spec.template.spec
      for (const { configMap } of volumes) if (configMap !== undefined) named('ConfigMap', configMap.name)
      const there = [...volumes, ...(spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata)]
      for (const { volumeMounts = [] } of own)
        for (const { name } of volumeMounts)
          assert.ok(
            there.some((volume) => volume.name === name),
            name,
          )
    }
  })

  it('ask each container for its health, where it answers', () => {
    for (const { name, image, ports, ...probes } of containers) {
      for (const probe of [probes.startupProbe, probes.readinessProbe, probes.livenessProbe]) {
        if (probe === undefined) continue
        const port = probe.httpGet?.port ?? probe.tcpSocket?.port
        assert.ok(
          ports.some((own) => own.name === port),
          `${name}: ${port}`,
        )
        const path = port === 'operations' ? '/readyz' : healthPath
        if (image.startsWith('registry.example/')) assert.is(probe.httpGet?.path, path)
      }
    }
  })

  it('give workers the time to let go of their agents', () => {
    const worker = appOf('worker')
    const { terminationGracePeriodSeconds = 0 } = worker.spec.template.spec
    const { drain } = invocationOf(containersOf(worker)[0]!.args ?? [])
    assert.ok(terminationGracePeriodSeconds * 1_000 >= Number(drain) + 10_000)
    const { command = [], stop_grace_period: grace = '' } = compose.services['worker']!
    assert.ok(Number.parseInt(grace) * 1_000 >= Number(invocationOf(command).drain) + 5_000)
  })

  it('have the balancer’s file as it is beside them', async () => {
    assert.is(named('ConfigMap', 'balancer').data?.['haproxy.cfg'], await read('haproxy.cfg'))
  })

  it('reach by address what there is', () => {
    const texts = containers.flatMap(({ args = [], env = [] }) => [...args, ...env.map(({ value = '' }) => value)])
    const urls = texts.flatMap((text) => [...text.matchAll(/http:\/\/([\w-]+):(\d+)/g)])
    assert.ok(urls.length >= 3)
    for (const [url, name, port] of urls)
      assert.ok(
        named('Service', name!).spec.ports!.some((own) => own.port === Number(port)),
        url,
      )
    const workersAt = containers.flatMap(({ env = [] }) => env).find(({ name }) => name === 'WORKERS')!.value!
    const workers = named('Service', workersAt.split('.')[0]!)
    assert.equal(
      workers.spec.ports!.map(({ port }) => port),
      [9080],
    )
  })
})

describe('the manifest for Docker Compose', (it) => {
  it('names what there is', () => {
    const known = ['image', 'build', 'command', 'environment', 'depends_on', 'volumes', 'configs', 'ports']
    known.push('healthcheck', 'stop_grace_period', 'restart')
    for (const [name, service] of services) {
      for (const key of Object.keys(service)) assert.ok(known.includes(key), `${name}: ${key}`)
      assert.ok((service.image === undefined) !== (service.build === undefined), name)
      if (service.image !== undefined) assert.match(service.image, /:[\d.]+$/)
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        assert.ok(other in compose.services, other)
        if (condition === 'service_healthy') assert.ok(compose.services[other]!.healthcheck, `${other} has no health`)
      }
      for (const volume of service.volumes ?? [])
        assert.ok(Object.hasOwn(compose.volumes, volume.split(':')[0]!), volume)
      for (const { source } of service.configs ?? []) assert.ok(source in compose.configs, source)
    }
  })

  it('uses every volume and file, and the files are there', async () => {
    const volumes = services.flatMap(([, service]) => (service.volumes ?? []).map((volume) => volume.split(':')[0]!))
    assert.equal(Object.keys(compose.volumes).toSorted(), volumes.toSorted())
    for (const { file } of Object.values(compose.configs)) assert.ok((await read(file)).length > 0)
  })

  it('reaches by address what there is', () => {
    const texts = services.flatMap(([, { command = [], environment = {} }]) => [
      ...command,
      ...Object.values(environment),
    ])
    const urls = texts.flatMap((text) => [...text.matchAll(/(?:http:\/\/|@)([\w-]+)(?::(\d+))?/g)])
    assert.ok(urls.length >= 4)
    for (const [url, name] of urls) assert.ok(Object.hasOwn(compose.services, name!), url)
    for (const [url, , port] of urls.filter(([, name]) => name === 'engine'))
      assert.ok(enginePorts.includes(Number(port)), url)
    assert.ok(Object.hasOwn(compose.services, compose.services['balancer']!.environment!['WORKERS']!))
  })

  it('opens the port that the gateway listens on', () => {
    const { ports = [], command = [] } = compose.services['gateway']!
    const { port } = invocationOf(command)
    assert.equal(ports, [`127.0.0.1:${port}:${port}`])
  })
})

describe('what both kinds of manifests start', (it) => {
  it('are command lines that the program takes', () => {
    assert.equal(invocations.map(({ command }) => command).toSorted(), ['gateway', 'gateway', 'worker', 'worker'])
  })

  it('listens where it is reached', async () => {
    const cfg = await read('haproxy.cfg')
    for (const { port, bridgePort } of invocations.filter(({ command }) => command === 'worker')) {
      assert.ok(cfg.includes(`:${port}"`), 'the balancer asks that port')
      assert.is(bridgePort, '4100')
    }
    for (const { ports } of containersOf(appOf('worker')))
      assert.equal(
        ports.map(({ containerPort }) => containerPort),
        [9080, 4100, 9464],
      )
    assert.ok(cfg.includes('bind :9080 '))
    for (const { url } of invocations.filter(({ command }) => command === 'worker')) assert.match(url!, /:9080$/)
    for (const { operationsPort } of invocations) assert.is(operationsPort, '9464')
    for (const [, { build, healthcheck }] of services)
      if (build !== undefined) assert.ok(healthcheck?.test.some((text) => text.includes(':9464/readyz')))
    for (const { ports, readinessProbe, image } of containers) {
      if (!image.startsWith('registry.example/')) continue
      assert.is(ports.find(({ name }) => name === readinessProbe.httpGet?.port)?.containerPort, 9464)
    }
  })

  it('has the variables that the program reads, and settings of the engine that it is started with here', async () => {
    const own = await variablesRead()
    const used = [
      ...containers.flatMap(({ env = [] }) => env.map(({ name }) => name)),
      ...services.flatMap(([, { environment = {} }]) => Object.keys(environment)),
    ]
    for (const name of used.filter((each) => each.startsWith('ESCAPEMENT_'))) assert.ok(own.has(name), name)
    for (const name of used.filter((each) => each.startsWith('RESTATE_'))) assert.ok(name in engineSettings, name)
    for (const name of [
      'RESTATE_DISABLE_TELEMETRY',
      'ESCAPEMENT_LOGS',
      'ESCAPEMENT_GATEWAY_SECRET',
      'ESCAPEMENT_TOKEN',
    ])
      assert.is(
        used.filter((each) => each === name).length,
        name === 'ESCAPEMENT_LOGS' || name.endsWith('SECRET') ? 4 : 2,
      )
  })

  it('is the program of the image, started without a shell', async () => {
    const lines = (await read('Dockerfile')).split('\n')
    const entry = lines.find((line) => line.startsWith('ENTRYPOINT '))!
    assert.equal(JSON.parse(entry.slice('ENTRYPOINT '.length)), ['/app/node_modules/.bin/escapement'])
    const { bin } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
      bin: Readonly<Record<string, string>>
    }
    assert.ok('escapement' in bin)
    assert.match(
      lines.find((line) => line.startsWith('FROM '))!,
      /^FROM node:2\d-slim$/,
    )
  })
})
