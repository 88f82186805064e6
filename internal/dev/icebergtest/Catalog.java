import java.net.InetSocketAddress;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/** Apache Iceberg's own REST catalog, as in its tests, on 127.0.0.1: Catalog PORT FOLDER. Its RESTCatalogServer listens everywhere. */
class Catalog {
  public static void main(String[] args) throws Exception {
    var properties = Map.of(
        "catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog", "uri", "jdbc:sqlite:" + args[1] + "/catalog.db",
        "warehouse", "file://" + args[1] + "/warehouse", "jdbc.schema-version", "V1", "clients", "1");
    var catalog = CatalogUtil.buildIcebergCatalog("backend", properties, new Configuration());
    var context = new ServletContextHandler();
    context.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
    var server = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
    server.setHandler(context);
    server.start();
    server.join();
  }
}
