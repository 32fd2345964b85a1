// Lays graphs out beside the page: ELK listens for messages as soon as it is loaded in a worker.
// oxlint-disable-next-line import/no-unassigned-import -- Loading it is all there is to do.
import 'elkjs/lib/elk-worker.min.js'
