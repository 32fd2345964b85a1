import type { Fault } from '../mutate.ts'

/** Slips with files that are no images. */
export const faults: readonly Fault[] = [
  {
    id: 'files-1',
    file: 'packages/redaction/src/redactor.ts',
    what: 'secrets in the text of a file reach the log and the model',
    from: 'if (!isForeign && isFileBlock(value)) return this.#cleanFile(value)\n',
    to: '',
    tests: ['protocol/files', 'journeys/readsFiles'],
  },
  {
    id: 'files-2',
    file: 'packages/ai-sdk/src/adapters/callModel.ts',
    what: 'a file of which a provider knows nothing ends each run from then on',
    from: 'if (sent.length === 0 || !/UnsupportedFunctionality/.test(String(name))) throw thrown',
    to: 'if (sent.length >= 0) throw thrown',
    tests: ['ai-sdk/test/adapters/aiSdkFiles'],
  },
  {
    id: 'files-3',
    file: 'packages/ai-sdk/src/adapters/callModel.ts',
    what: 'for one file that a provider does not take, none is sent',
    from: 'named.length > 0 ? named : sent',
    to: 'sent',
    tests: ['ai-sdk/test/adapters/aiSdkFiles'],
  },
  {
    id: 'files-4',
    file: 'packages/ai-sdk/src/adapters/toPrompt.ts',
    what: 'sound from a tool is dropped by providers that take only PDFs in results',
    from: " || (block.type === 'file' && block.mimeType !== 'application/pdf')",
    to: '',
    tests: ['ai-sdk/test/adapters/aiSdkFiles'],
  },
  {
    id: 'files-5',
    file: 'src/protocol/text/saidContent.ts',
    what: 'bytes that no provider can read are taken, and each later request is refused',
    from: "? undefined : 'its data is not base64'",
    to: '? undefined : undefined',
    tests: ['protocol/files'],
  },
]
