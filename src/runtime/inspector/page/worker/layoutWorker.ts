// Lays graphs out beside the page: ELK listens for messages as soon as it is loaded in a worker.
import 'elkjs/lib/elk-worker.min.js'
